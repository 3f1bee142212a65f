package hub

import (
	"sync"

	"ringback/internal/job"
	"ringback/internal/store"
)

// room holds the clients of one user.
type room struct {
	hub    *Hub
	userID string

	mu sync.Mutex
	// clients tells for each whether it is live; one that is not still reads past
	// events.
	clients map[*client]bool
	// last is the latest event given to live clients; 0 before the first.
	last job.Seq
	// behind is set while past events are read for the live clients; newest is
	// the latest event seen meanwhile.
	behind bool
	newest job.Seq
}

func (r *room) event(e store.EventEnvelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = max(r.newest, e.Seq)
	switch {
	case r.behind || r.last != 0 && e.Seq <= r.last:
	case r.last != 0 && e.Seq > r.last+1, r.last == 0 && r.anyLive():
		// A gap; or the user's first event since there is a client, before which
		// others may have been missed: that cannot be told from its id.
		r.startCatchUp()
	default:
		r.deliver(e)
	}
}

// deliver gives an event to the live clients. r.mu is held.
func (r *room) deliver(e store.EventEnvelope) {
	f := newFrame(e)
	for c, live := range r.clients {
		if live {
			c.offer(f)
		}
	}
	r.last = e.Seq
}

// catchUp reads what live clients may have missed; newest is an event known to
// exist, or 0.
func (r *room) catchUp(newest job.Seq) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = max(r.newest, newest)
	if !r.behind && (r.last != 0 || r.anyLive()) {
		r.startCatchUp()
	}
}

// startCatchUp reads the missed events in the background. r.mu is held.
func (r *room) startCatchUp() {
	r.behind = true
	since := r.last // read here: a client that becomes live meanwhile may move it
	r.hub.replay(func() {
		for {
			past, ok := r.hub.readPast(r.userID, since)
			if !ok {
				return
			}
			if since, ok = r.replayed(past); !ok {
				return
			}
		}
	})
}

// replayed gives a page of past events to the live clients; more is false when
// they are up to date.
func (r *room) replayed(past store.Replay) (since job.Seq, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if past.Missed {
		for c, live := range r.clients {
			if live {
				c.offer(resync)
			}
		}
	}
	for _, e := range past.Events {
		r.deliver(e)
	}
	if len(past.Events) == 0 || len(past.Events) < replayPage && r.last >= r.newest {
		r.behind = false
		return r.last, false
	}
	return r.last, true
}

// goLive makes a client live when it has read everything up to now.
func (r *room) goLive(c *client, readTo job.Seq) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if readTo < r.newest || readTo < r.last {
		return false
	}
	if r.last == 0 || !r.anyLive() {
		r.last = readTo
	}
	if _, here := r.clients[c]; here {
		r.clients[c] = true
	}
	return true
}

func (r *room) anyLive() bool {
	for _, live := range r.clients {
		if live {
			return true
		}
	}
	return false
}

func (r *room) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.clients)
}

func (r *room) each(do func(*client)) {
	r.mu.Lock()
	clients := make([]*client, 0, len(r.clients))
	for c := range r.clients {
		clients = append(clients, c)
	}
	r.mu.Unlock()
	for _, c := range clients {
		do(c)
	}
}
