package guard

import (
	"container/list"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/netutil"

	"ringback/internal/job"
)

// Connections ensures that a node can always serve callbacks and health checks, regardless
// of other connections: the number of descriptors of a process is limited, and once they
// are used up, it can accept no connections at all.
//
// Over the limit, the connection is closed that has waited longest without a request in
// progress: one that is idle, never sent a whole request, or whose request exceeds the
// limit of calls. Every connection gets a grace period to send its request, even under
// load; new connections are accepted only after it. If callbacks have their own listener, a share
// of its connections is never closed in favor of an API connection; beyond it, those that wait there
// are closed first if they are more than those of the API. So no crowd at one listener shuts another.
// A job can keep only a small share of all connections, at the doors of its sandbox.
//
// API calls in progress and WebSockets cannot take all connections; the rest is for
// callbacks, which are in progress once their whole request has been received.
type Connections struct {
	budget Budget

	mu sync.Mutex
	// open counts all connections. callbacks contains those at a callback listener, tunnels those
	// at a tunnel listener, and calls the others.
	open                      int
	calls, callbacks, tunnels *places
	shed                      int

	// answering has an element for each API call in progress.
	answering chan struct{}
	refused   atomic.Int64
}

// places contains connections, but no WebSockets: those with a request in progress, then mark,
// then those without one, the longest-waiting first. A connection keeps its element, so that
// a request allocates nothing.
type places struct {
	list.List
	mark *list.Element
	// busy is the number of those in front of mark.
	busy int
}

func newPlaces() *places {
	p := &places{}
	p.mark = p.PushBack(nil)
	return p
}

// waiting returns the number of connections without a request in progress.
func (p *places) waiting() int { return p.Len() - 1 - p.busy }

// set records whether a request of a connection is in progress, unless the connection was removed.
func (p *places) set(c *connection, busy bool) {
	switch {
	case c.place == nil || c.busy == busy:
	case busy:
		p.busy++
		p.MoveBefore(c.place, p.mark)
	default:
		p.busy--
		p.MoveToBack(c.place)
		c.since = time.Now()
	}
	c.busy = busy
}

// remove removes a connection, if it has not been removed before.
func (p *places) remove(c *connection) {
	if c.place == nil {
		return
	}
	if c.busy {
		p.busy--
	}
	p.Remove(c.place)
	c.place = nil
}

// NewConnections returns a guard that enforces a budget.
func NewConnections(b Budget) *Connections {
	return &Connections{
		budget: b, calls: newPlaces(), callbacks: newPlaces(), tunnels: newPlaces(), answering: make(chan struct{}, b.Calls),
	}
}

// Listener returns a listener that counts its connections.
func (t *Connections) Listener(l net.Listener) net.Listener { return &listener{l, t, t.calls} }

// CallbackListener is Listener for a listener that serves only callbacks.
func (t *Connections) CallbackListener(l net.Listener) net.Listener {
	return &listener{l, t, t.callbacks}
}

// DoorListener is CallbackListener for the door of one job.
func (t *Connections) DoorListener(l net.Listener) net.Listener {
	return t.CallbackListener(netutil.LimitListener(l, t.budget.Door))
}

// TunnelListener is Listener for a door of one job that leads elsewhere. Its connections are counted,
// but none is closed for another one; those of all jobs have half of the budget at most.
func (t *Connections) TunnelListener(l net.Listener) net.Listener {
	return &listener{netutil.LimitListener(l, t.budget.Door), t, t.tunnels}
}

type listener struct {
	net.Listener
	table *Connections
	// among contains the connections of this listener.
	among *places
}

// gracePeriod is the time that a connection has to send its request before it
// may be closed for another one. It leaves an overloaded node time to read the request.
const gracePeriod = time.Second / 2

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: accepted, table: l.table, among: l.among}
		added, wait := l.table.add(c)
		for ; wait > 0; added, wait = l.table.add(c) {
			time.Sleep(wait)
		}
		if added {
			return c, nil
		}
		accepted.Close()
	}
}

// connection is counted until it is closed.
type connection struct {
	net.Conn
	table *Connections
	// place is the connection's element of among; nil once it was closed, or became a WebSocket. It
	// has waited since the time since, unless it is busy: a request is in progress.
	among  *places
	place  *list.Element
	since  time.Time
	busy   bool
	closed bool
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.table.remove(c)
	return c.Conn.Close()
}

// SyscallConn implements syscall.Conn, for connections that become WebSockets.
func (c *connection) SyscallConn() (syscall.RawConn, error) {
	conn, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return conn.SyscallConn()
}

// add counts a connection, and if there are too many closes another one. If that one is
// within its grace period, nothing is done, and wait is the remaining time. If none can be
// closed, added is false.
func (t *Connections) add(c *connection) (added bool, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.among == t.tunnels && t.tunnels.waiting() >= t.budget.Connections/2 {
		t.shed++
		return false, 0
	}
	if t.open >= t.budget.Connections {
		other := t.longestWaiting(c.among)
		if other == nil {
			t.shed++
			return false, 0
		}
		if left := gracePeriod - time.Since(other.since); left > 0 {
			return false, left
		}
		t.shed++
		t.forget(other)
		defer other.Conn.Close()
	}
	t.open++
	c.place, c.since = c.among.PushBack(c), time.Now()
	return true, 0
}

// longestWaiting returns the connection that may be closed for a new one of these; nil for
// none. t.mu must be held.
func (t *Connections) longestWaiting(these *places) *connection {
	from := t.calls
	crowded := t.callbacks.waiting() > max(t.calls.waiting(), t.budget.Callbacks)
	if crowded || these == t.callbacks && t.calls.waiting() == 0 {
		from = t.callbacks
	}
	if from.waiting() == 0 {
		return nil
	}
	c, _ := from.mark.Next().Value.(*connection)
	return c
}

func (t *Connections) remove(c *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(c)
}

// forget stops counting a connection. t.mu must be held.
func (t *Connections) forget(c *connection) {
	if c.closed {
		return
	}
	c.closed = true
	t.open--
	c.among.remove(c)
}

type connectionKey struct{}

// Context is the ConnContext of a server that serves a Listener.
func (t *Connections) Context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// Handler marks connections as waiting once their response has been written: if the handler
// did not read the whole body, the rest may never arrive.
func (t *Connections) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connectionOf(r); c != nil {
			defer t.wait(c)
		}
		next.ServeHTTP(w, r)
	})
}

// connectionOf returns the connection of a request; nil if it is not counted.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}

// Received marks the request of a connection as in progress. It is called for callbacks and health
// checks, without a limit on their number, once the whole request has been received.
func Received(r *http.Request) {
	if c := connectionOf(r); c != nil {
		c.table.mu.Lock()
		defer c.table.mu.Unlock()
		c.among.set(c, true)
	}
}

func (t *Connections) wait(c *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.among.set(c, false)
}

// State is the ConnState of a server that serves a Listener. It tracks connections that
// become WebSockets.
func (t *Connections) State(c net.Conn, s http.ConnState) {
	if mine, ok := c.(*connection); ok && s == http.StateHijacked {
		t.mu.Lock()
		mine.among.remove(mine)
		t.mu.Unlock()
	}
}

// Middleware rejects API calls over the limit of calls in progress.
func (t *Connections) Middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		select {
		case t.answering <- struct{}{}:
			defer func() { <-t.answering }()
			Received(c.Request())
			return next(c)
		default:
			t.refused.Add(1)
			c.Response().Header().Set("Connection", "close")
			return job.Errorf(job.Unavailable, "The server is at its limit of concurrent calls").
				WithHint("Send the same again after Retry-After seconds.")
		}
	}
}

// Stats are counts for operators.
type Stats struct {
	// Open is the number of open connections, and Limit their maximum.
	Open, Limit int
	// Shed is the number of connections closed because there were too many, and Refused the
	// number of rejected API calls.
	Shed, Refused int
}

// Stats returns the counts so far.
func (t *Connections) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{Open: t.open, Limit: t.budget.Connections, Shed: t.shed, Refused: int(t.refused.Load())}
}
