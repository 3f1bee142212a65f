package hub

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/store"
)

// CloseCode is the reason why the server closes a connection; docs/api.md lists them.
type CloseCode int

// The close codes, in addition to those of RFC 6455. From CloseBadRequest on, connecting again
// in the same way does not help.
const (
	CloseRestart      CloseCode = websocket.CloseServiceRestart // connect again
	CloseSlow         CloseCode = 4008                          // the client reads too slowly; it may resume with since
	CloseBadRequest   CloseCode = 4400                          // the URL is wrong
	CloseUnauthorized CloseCode = 4401                          // no valid key or token, or it has expired
	CloseForbidden    CloseCode = 4403                          // this caller or this page is not allowed
)

// Subprotocol is the one that the server selects if a client offers several.
const Subprotocol = "ringback"

// Options configure a Hub. Zero values select the defaults.
type Options struct {
	// QueueLimit is the maximum number of frames queued for one client; default 1024.
	QueueLimit int
	// QueueBytes is the maximum size of these frames together, with those that are being written;
	// default 8 MiB. A single frame may be larger.
	QueueBytes int
	// PingInterval is the interval between pings; default 25 s.
	PingInterval time.Duration
	// DeadAfter is the time after which a silent client is disconnected, a tenth more at most;
	// default 60 s.
	DeadAfter time.Duration
	// WriteTimeout is the timeout of one write; default 10 s.
	WriteTimeout time.Duration
	// Limits are the maximum numbers of connections. Refused, if set, is called for each
	// connection that is turned away, with the limit that was reached: user, address or node.
	Limits  Limits
	Refused func(limit string)
}

func (o Options) withDefaults() Options {
	o.QueueLimit = cmp.Or(o.QueueLimit, 1024)
	o.QueueBytes = cmp.Or(o.QueueBytes, 8<<20)
	o.PingInterval = cmp.Or(o.PingInterval, 25*time.Second)
	o.DeadAfter = cmp.Or(o.DeadAfter, time.Minute)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 10*time.Second)
	if o.Refused == nil {
		o.Refused = func(string) {}
	}
	return o
}

// Hub holds the WebSocket clients of this node.
type Hub struct {
	store     *store.Store
	opts      Options
	admission *admission
	log       *slog.Logger

	mu    sync.Mutex
	rooms map[string]*room // by user
	// everyone holds the clients that follow all users.
	everyone *room
	// replays are the goroutines that read past events. life prevents new ones from starting
	// while close waits for them.
	replays sync.WaitGroup
	reads   chan struct{} // limits the reads of past events at the same time
	// interruptions counts how often events may have been missed or lost. What was read before one
	// must be read again.
	interruptions atomic.Int64
	life          sync.Mutex
	ctx           context.Context //nolint:containedctx // the life of the hub, which replays must not outlive
	stop          context.CancelFunc
}

// New returns a hub. It delivers events once it is subscribed to the store; see
// store.Subscriber.
func New(s *store.Store, opts Options, log *slog.Logger) *Hub {
	ctx, stop := context.WithCancel(context.Background())
	opts = opts.withDefaults()
	h := &Hub{
		store: s, opts: opts, log: log, rooms: map[string]*room{},
		admission: &admission{limits: opts.Limits, refused: opts.Refused, users: map[string]int{}, addresses: map[string]int{}},
		reads:     make(chan struct{}, replayReads), ctx: ctx, stop: stop,
	}
	h.everyone = &room{hub: h, userID: allUsers, clients: map[*client]bool{}}
	return h
}

// allUsers is the user ID under which connections that follow all users are counted.
const allUsers = job.ReservedUserPrefix + "all"

// Event delivers an event to the clients of its user and to those that follow all users.
func (h *Hub) Event(e store.EventEnvelope) {
	h.mu.Lock()
	r := h.rooms[e.UserID]
	h.mu.Unlock()
	if r != nil {
		r.event(e)
	}
	h.everyone.announce(e)
}

// Text delivers a piece of what Claude is writing to the clients of its user that asked for
// it.
func (h *Hub) Text(t store.TextEnvelope) {
	h.mu.Lock()
	r := h.rooms[t.UserID]
	h.mu.Unlock()
	if r != nil {
		r.text(t)
	}
}

// Resubscribed checks, after the subscription was interrupted, that no event was missed and
// that the events that clients have received still exist in the store.
func (h *Hub) Resubscribed() {
	h.interruptions.Add(1)
	for _, r := range h.all() {
		r.catchUp()
	}
	h.everyone.each(func(c *client) { c.offer(resync) })
}

// CheckCredentials ends the connections with a key or token that is no longer valid.
func (h *Hub) CheckCredentials() {
	h.each((*client).checkCredential)
}

// Clients returns the number of connections.
func (h *Hub) Clients() int {
	n := 0
	h.each(func(*client) { n++ })
	return n
}

// Run pings the clients and disconnects the silent ones until ctx ends, then closes all so that they
// reconnect elsewhere.
func (h *Hub) Run(ctx context.Context) {
	pings, checks := time.NewTicker(h.opts.PingInterval), time.NewTicker(h.opts.DeadAfter/checksOfLife)
	defer pings.Stop()
	defer checks.Stop()
	for {
		select {
		case <-ctx.Done():
			h.close()
			return
		case <-pings.C:
			h.each(func(c *client) { c.offer(pinger) })
		case <-checks.C:
			h.each((*client).checkLife)
		}
	}
}

// checksOfLife is the number of checks of a client within DeadAfter.
const checksOfLife = 10

// replay runs a reader of past events in the background, unless the hub is stopping.
func (h *Hub) replay(read func()) {
	h.life.Lock()
	defer h.life.Unlock()
	if h.ctx.Err() == nil {
		h.replays.Go(read)
	}
}

func (h *Hub) close() {
	h.life.Lock()
	h.stop()
	h.life.Unlock()
	h.each(func(c *client) { c.end(CloseRestart, "the server restarts, connect again") })
	h.replays.Wait()
}

func (h *Hub) all() []*room {
	h.mu.Lock()
	defer h.mu.Unlock()
	rooms := append(make([]*room, 0, len(h.rooms)+1), h.everyone)
	for _, r := range h.rooms {
		rooms = append(rooms, r)
	}
	return rooms
}

func (h *Hub) each(do func(*client)) {
	for _, r := range h.all() {
		r.each(do)
	}
}

// join puts a client into the room of its user.
func (h *Hub) join(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rooms[c.UserID]
	if c.UserID == allUsers {
		r = h.everyone
	}
	if r == nil {
		r = &room{hub: h, userID: c.UserID, clients: map[*client]bool{}}
		h.rooms[c.UserID] = r
	}
	c.room = r
	r.mu.Lock()
	r.clients[c] = false
	r.mu.Unlock()
}

func (h *Hub) leave(r *room, c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.clients, c)
	if len(r.clients) == 0 && h.rooms[r.userID] == r {
		delete(h.rooms, r.userID)
	}
}

// Past events are read in pages of replayPage events. Of a page, replayBytes are kept while a slow client
// receives them; the rest is read again. replayReads limits how many pages are read at the same time.
const (
	replayPage  = 256
	replayBytes = 1 << 20
	replayReads = 8
)

// page is a page of past events. more is true if others may follow it.
type page struct {
	store.Replay
	more bool
}

// readPast reads a page of past events, and retries while the store is unavailable. It returns
// false when the hub stops.
func (h *Hub) readPast(userID string, since job.Seq) (page, bool) {
	for {
		past, err := h.readPage(userID, since)
		if err == nil {
			return past, true
		}
		select {
		case <-h.ctx.Done():
			return page{}, false
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (h *Hub) readPage(userID string, since job.Seq) (page, error) {
	select {
	case h.reads <- struct{}{}:
		defer func() { <-h.reads }()
	case <-h.ctx.Done():
		return page{}, h.ctx.Err()
	}
	past, err := h.store.Events.OfUser(h.ctx, userID, since, replayPage)
	if err != nil {
		return page{}, err
	}
	size, kept := 0, 0
	for ; kept < len(past.Events) && (kept == 0 || size+past.Events[kept].Size() <= replayBytes); kept++ {
		size += past.Events[kept].Size()
	}
	more := len(past.Events) == replayPage || kept < len(past.Events)
	past.Events = slices.Clone(past.Events[:kept]) // the rest is freed
	return page{past, more}, nil
}
