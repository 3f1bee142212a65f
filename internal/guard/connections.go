package guard

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// Connections ensures that a node can always serve callbacks and health checks, regardless
// of other connections: the number of descriptors of a process is limited, and once they
// are used up, it can accept no connections at all.
//
// Over the limit, the connection is closed that has waited longest without a request in
// progress: one that is idle, never sent a whole request, or whose request exceeds the
// limit of calls. Every connection gets a grace period to send its request, even under
// load; new connections are accepted only after it. If callbacks have their own listener,
// none of its connections is closed in favor of an API connection.
//
// API calls in progress and WebSockets cannot take all connections; the rest is for
// callbacks, which are in progress once their whole request has been received.
type Connections struct {
	budget Budget

	mu sync.Mutex
	// open counts all connections. waiting contains those without a request in progress,
	// the longest-waiting first, and waitingCallbacks those at a callback listener.
	open                      int
	waiting, waitingCallbacks list.List
	// calls is the number of API calls in progress.
	calls         int
	shed, refused int
}

// NewConnections returns a guard that enforces a budget.
func NewConnections(b Budget) *Connections { return &Connections{budget: b} }

// Listener returns a listener that counts its connections.
func (t *Connections) Listener(l net.Listener) net.Listener { return &listener{l, t, &t.waiting} }

// CallbackListener is Listener for a listener that serves only callbacks.
func (t *Connections) CallbackListener(l net.Listener) net.Listener {
	return &listener{l, t, &t.waitingCallbacks}
}

type listener struct {
	net.Listener
	table *Connections
	// among is the list of waiting connections for this listener.
	among *list.List
}

// gracePeriod is how long a connection may take to send its request before it
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
	// place is the connection's element in the list among, where it has waited since the
	// time since; nil while a request is in progress.
	among *list.List
	place *list.Element
	since time.Time
	// A connection that was closed, or became a WebSocket, no longer waits.
	closed, upgraded bool
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.table.remove(c)
	return c.Conn.Close()
}

// add counts a connection, and if there are too many closes another one. If that one is
// within its grace period, nothing is done, and wait is the remaining time. If none can be
// closed, added is false.
func (t *Connections) add(c *connection) (added bool, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
	t.startWaiting(c)
	return true, 0
}

// longestWaiting returns the connection that may be closed for a new one of these; nil for
// none. t.mu must be held.
func (t *Connections) longestWaiting(these *list.List) *connection {
	first := t.waiting.Front()
	if first == nil && these == &t.waitingCallbacks {
		first = these.Front()
	}
	if first == nil {
		return nil
	}
	c, _ := first.Value.(*connection)
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
	t.stopWaiting(c)
}

// startWaiting adds a connection to those that wait. t.mu must be held.
func (t *Connections) startWaiting(c *connection) {
	c.place, c.since = c.among.PushBack(c), time.Now()
}

// stopWaiting removes a connection from those that wait. t.mu must be held.
func (t *Connections) stopWaiting(c *connection) {
	if c.place != nil {
		c.among.Remove(c.place)
		c.place = nil
	}
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

// Received marks a request as in progress, without a limit on their number. It is for
// callbacks and health checks, once the whole request has been received.
func Received(r *http.Request) {
	if c := connectionOf(r); c != nil {
		c.table.work(c)
	}
}

// work marks the request of a connection as in progress.
func (t *Connections) work(c *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopWaiting(c)
}

func (t *Connections) wait(c *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !c.closed && !c.upgraded && c.place == nil {
		t.startWaiting(c)
	}
}

// State is the ConnState of a server that serves a Listener. It tracks connections that
// become WebSockets.
func (t *Connections) State(c net.Conn, s http.ConnState) {
	if mine, ok := c.(*connection); ok && s == http.StateHijacked {
		t.mu.Lock()
		mine.upgraded = true
		t.stopWaiting(mine)
		t.mu.Unlock()
	}
}

// Middleware rejects API calls over the limit of calls in progress.
func (t *Connections) Middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !t.begin() {
			c.Response().Header().Set("Connection", "close")
			return job.Errorf(job.Unavailable, "The server has as many calls to answer as it can").
				WithHint("Send the same again after Retry-After seconds.")
		}
		defer t.end()
		if conn := connectionOf(c.Request()); conn != nil {
			t.work(conn)
		}
		return next(c)
	}
}

func (t *Connections) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls >= t.budget.Calls {
		t.refused++
		return false
	}
	t.calls++
	return true
}

func (t *Connections) end() {
	t.mu.Lock()
	t.calls--
	t.mu.Unlock()
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
	return Stats{Open: t.open, Limit: t.budget.Connections, Shed: t.shed, Refused: t.refused}
}
