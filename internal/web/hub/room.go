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
	// clients maps each client to whether it is live. A client that is not live is still
	// reading past events.
	clients map[*client]bool
	// last is the latest event sent to live clients; 0 before the first.
	last job.Seq
	// behind is true while past events are being read for the live clients. newest is the
	// latest known event.
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
		r.startCatchUp() // an event is missing, or the store has lost events
	}
}

// text sends a piece of text to the clients that asked for it.
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

// announce sends an event to the clients that follow all users. It has no sequence number for
// them, because those are per user.
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

// deliver sends an event to the live clients. r.mu is held.
func (r *room) deliver(e store.EventEnvelope) {
	f := newFrame(e)
	r.eachLive(func(c *client) { c.offer(f) })
	r.last, r.newest = e.Seq, max(r.newest, e.Seq)
}

// catchUp reads the events that live clients may have missed.
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
			known := r.known()
			past, ok := r.hub.readPast(r.userID, known.last)
			if !ok || !r.replayed(past, known) {
				return
			}
		}
	})
}

// known contains a room's knowledge before past events are read.
type known struct {
	// last is the latest event sent to live clients.
	last job.Seq
	// newest is the latest known event. A later read from the store includes it, unless the store has
	// lost it.
	newest        job.Seq
	interruptions int64
}

func (r *room) known() known {
	r.mu.Lock()
	defer r.mu.Unlock()
	return known{r.last, r.newest, r.hub.interruptions.Load()}
}

// isOutdated reports whether the events up to readTo, which were read after before, must be read
// again: there are newer ones, or events may have been missed or lost. r.mu is held.
func (r *room) isOutdated(readTo job.Seq, before known) bool {
	return readTo < r.newest && r.newest != before.newest || r.hub.interruptions.Load() != before.interruptions
}

// replayed sends a page of past events to the live clients. before is the room's knowledge from before the
// page was read. more is false once the clients are up to date.
func (r *room) replayed(past page, before known) (more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if past.Missed {
		r.eachLive(func(c *client) { c.resync(past.Last) })
	}
	for _, e := range past.Events {
		r.deliver(e)
	}
	if past.more || r.isOutdated(past.Last, before) {
		return true
	}
	if r.newest > past.Last { // the store has lost events
		r.eachLive(func(c *client) { c.lose(past.Last) })
		r.newest = past.Last
	}
	r.last, r.behind = past.Last, false
	return false
}

// eachLive calls do for each live client. r.mu is held.
func (r *room) eachLive(do func(*client)) {
	for c, live := range r.clients {
		if live {
			do(c)
		}
	}
}

// goLive makes a client live if it has read everything up to now. before is the room's knowledge from
// before the client read its last page.
func (r *room) goLive(c *client, readTo job.Seq, before known) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOutdated(readTo, before) {
		return false
	}
	switch {
	case !r.anyLive():
		r.last, r.newest = readTo, readTo
	case readTo != r.last: // the others are behind, or have received events that no longer exist
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
