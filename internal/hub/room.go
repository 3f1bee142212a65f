package hub

import (
	"sync"

	"github.com/gorilla/websocket"

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
	// behind is set while past events are read for the live clients; newest is the
	// latest event that is known of.
	behind bool
	newest job.Seq
}

func (r *room) event(e store.EventEnvelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = max(r.newest, e.Seq)
	switch {
	case r.behind || r.last != 0 && e.Seq <= r.last:
	case e.After == r.last || !r.anyLive():
		r.deliver(e)
	default:
		r.startCatchUp() // there is one between, or the store's past is another one
	}
}

// text gives a piece of text to the clients that asked for it.
func (r *room) text(t store.TextEnvelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var f *frame
	for c := range r.clients {
		if !c.reads(t.RequestID) {
			continue
		}
		if f == nil {
			f = &frame{requestID: t.RequestID, bytes: encode(websocket.TextMessage, t.Frame)}
		}
		c.offerText(f)
	}
}

// announce gives an event to clients that hear of all users. Its place among the events of
// its user means nothing to them.
func (r *room) announce(e store.EventEnvelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.clients) == 0 {
		return
	}
	f := newFrame(e)
	f.seq = 0
	for c := range r.clients {
		c.offer(f)
	}
}

// deliver gives an event to the live clients. r.mu is held.
func (r *room) deliver(e store.EventEnvelope) {
	f := newFrame(e)
	r.eachLive(func(c *client) { c.offer(f) })
	r.last, r.newest = e.Seq, max(r.newest, e.Seq)
}

// catchUp reads what live clients may have missed.
func (r *room) catchUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.behind && (r.last != 0 || r.anyLive()) {
		r.startCatchUp()
	}
}

// startCatchUp reads the missed events in the background. r.mu is held.
func (r *room) startCatchUp() {
	r.behind = true
	r.hub.replay(func() {
		for {
			since, newest := r.read()
			past, ok := r.hub.readPast(r.userID, since)
			if !ok || !r.replayed(past, newest) {
				return
			}
		}
	})
}

// read is how far the live clients are, and the latest event that is known of: what is
// read from the store after this has it, unless the store has lost it.
func (r *room) read() (last, newest job.Seq) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.newest
}

// replayed gives a page of past events to the live clients. newest is the latest event that
// was known of before it was read. more is false when they are up to date.
func (r *room) replayed(past store.Replay, newest job.Seq) (more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if past.Missed {
		r.eachLive(func(c *client) { c.resync(past.Last) })
	}
	for _, e := range past.Events {
		r.deliver(e)
	}
	if len(past.Events) == replayPage || r.newest > past.Last && r.newest != newest {
		return true
	}
	if r.newest > past.Last { // the store had it, and has it no longer
		r.eachLive(func(c *client) { c.lose(past.Last) })
		r.newest = past.Last
	}
	r.last, r.behind = past.Last, false
	return false
}

// eachLive calls do for the live clients. r.mu is held.
func (r *room) eachLive(do func(*client)) {
	for c, live := range r.clients {
		if live {
			do(c)
		}
	}
}

// goLive makes a client live when it has read everything up to now. newest is the latest
// event that was known of before it read the last page.
func (r *room) goLive(c *client, readTo, newest job.Seq) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if readTo < r.newest && r.newest != newest {
		return false
	}
	switch {
	case !r.anyLive():
		r.last, r.newest = readTo, readTo
	case readTo != r.last: // the others have to read it, too, or were somewhere that is no more
		r.newest = max(r.newest, readTo)
		if !r.behind {
			r.startCatchUp()
		}
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
