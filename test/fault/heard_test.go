package fault

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ringback/test/must"
)

// check compares what every browser has heard with what is stored, once it had the time to
// hear all of it.
func (l *listeners) check(jobs []*jobSeen) {
	stored := l.stored(jobs)
	var missing []string
	for deadline := time.Now().Add(patience / 3); ; pause(100) {
		if missing = l.unheard(stored); len(missing) == 0 {
			break
		}
		if time.Now().After(deadline) {
			break
		}
	}
	for _, text := range missing {
		l.world.t.Errorf("%s: %s", l.world.topology.name, text)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for user, e := range l.ears {
		l.checkOrder(e, stored[user])
		l.checkEnds(e, stored[user], jobs)
	}
}

// stored returns the stored events of each user's jobs, by id.
func (l *listeners) stored(jobs []*jobSeen) map[string]map[int64]heard {
	all := map[string]map[int64]heard{}
	for user := range l.ears {
		all[user] = map[int64]heard{}
	}
	for _, j := range jobs {
		if l.world.ask(http.MethodGet, "/api/jobs/"+j.id, nil).status != http.StatusOK {
			continue
		}
		events := l.world.list("/api/jobs/"+j.id+"/events", "events")
		j.isCutOff = isCutOff(j, events)
		for _, e := range events {
			text, _ := e["id"].(string)
			id, _ := strconv.ParseInt(text, 10, 64)
			name, _ := e["event"].(string)
			all[j.user][id] = heard{id: id, job: j.id, event: name}
		}
	}
	return all
}

// unheard returns the stored events that a browser has missed without a resync.
func (l *listeners) unheard(stored map[string]map[int64]heard) (missing []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for user, events := range stored {
		e := l.ears[user]
		for _, id := range sortedIDs(events) {
			if !e.ids[id] && !e.excused(id, events) {
				missing = append(missing, "user "+user+" never heard event "+strconv.FormatInt(id, 10)+", "+events[id].event+" of "+events[id].job)
			}
		}
	}
	return missing
}

func sortedIDs(events map[int64]heard) []int64 {
	ids := make([]int64, 0, len(events))
	for id := range events {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// excused reports whether an event is in a gap reported by a resync: after the last stored
// event that was heard before it, and before the first one after it.
func (e *ear) excused(id int64, stored map[int64]heard) bool {
	before, gap := int64(0), false
	for _, h := range e.heard {
		switch {
		case h.resync:
			gap = true
		case stored[h.id].id == 0: // the store has lost it
		default:
			if gap && before < id && id < h.id {
				return true
			}
			before, gap = h.id, false
		}
	}
	return gap && before < id
}

// checkOrder checks that ids increase, and that what was heard and is no longer stored was
// revoked by a resync. A store that goes back loses a user's latest events; what it has no more
// from before the first one that is stored was cut off, as too old.
func (l *listeners) checkOrder(e *ear, stored map[int64]heard) {
	w := l.world
	last, lost := int64(0), int64(0)
	first := slices.Min(append(sortedIDs(stored), math.MaxInt64))
	for _, h := range e.heard {
		if h.resync {
			if !w.mayGoBack() {
				w.t.Errorf("%s: user %s was sent resync after event %d, but the store has lost nothing", w.topology.name, e.user, last)
			}
			lost = 0
			continue
		}
		if h.id <= last {
			w.t.Errorf("%s: user %s was sent event %d after %d", w.topology.name, e.user, h.id, last)
		}
		last = h.id
		if stored[h.id].id == 0 && h.id > first {
			lost = h.id
		}
	}
	must.Equal(w.t, 0, lost, w.topology.name, "user", e.user, "heard an event which is not stored, and was never told")
}

// checkEnds checks that the end of each job was heard once. Lost ends do not count, and
// ends covered by a resync need not be heard.
func (l *listeners) checkEnds(e *ear, stored map[int64]heard, jobs []*jobSeen) {
	ends, excused := map[string]int{}, map[string]bool{}
	for id, h := range stored {
		if isTerminal(h.event) && !e.ids[id] {
			excused[h.job] = e.excused(id, stored)
		}
	}
	for _, h := range e.heard {
		if isTerminal(h.event) && stored[h.id].id != 0 {
			ends[h.job]++
		}
	}
	for _, j := range jobs {
		if j.user == e.user && !j.isCutOff && ends[j.id] != 1 && (ends[j.id] != 0 || !excused[j.id]) {
			l.world.broken(j, "one terminal event reaches each client", "its user's browser was sent %d", ends[j.id])
		}
	}
}
