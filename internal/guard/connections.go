package guard

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// Connections keeps a node able to answer callbacks and to say that it lives, whoever
// else connects: the system gives a process so many descriptors, and when they are used
// up, nobody gets in at all.
//
// Over the limit, the connection goes that has waited longest without a request being
// worked on: one that is kept alive for later, never sent a whole request, or asks for what
// the node has no room for. Each has a moment for its request, whatever crowd comes behind
// it: the crowd waits at the door meanwhile. Where callbacks have a listener of their own,
// no connection of it goes for one of the API's.
//
// Calls of the API that are being worked on, and WebSockets, are kept from taking all there
// are; the rest is for callbacks, which are worked on once they are there as a whole.
type Connections struct {
	budget Budget

	mu sync.Mutex
	// open are all connections; waiting those of them without a request, the one that
	// has waited longest first, and waitingCallbacks those at a listener for callbacks.
	open                      int
	waiting, waitingCallbacks list.List
	// calls are the calls of the API that are being worked on.
	calls         int
	shed, refused int
}

// NewConnections returns a guard that keeps to a budget.
func NewConnections(b Budget) *Connections { return &Connections{budget: b} }

// Listener returns a listener whose connections are counted here.
func (t *Connections) Listener(l net.Listener) net.Listener { return &listener{l, t, &t.waiting} }

// CallbackListener is Listener for one that answers callbacks and nothing of the API.
func (t *Connections) CallbackListener(l net.Listener) net.Listener {
	return &listener{l, t, &t.waitingCallbacks}
}

type listener struct {
	net.Listener
	table *Connections
	// among are the connections of its sort that wait.
	among *list.List
}

// moment is how long a connection may take for its request before it may be closed for
// another one. A node that has too little processor needs some time to read it.
const moment = time.Second / 2

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

// connection is one that counts, until it is closed.
type connection struct {
	net.Conn
	table *Connections
	// place is where it stands among those that wait, since when; nil while a request is
	// worked on.
	among *list.List
	place *list.Element
	since time.Time
	// A connection that was closed, or became a WebSocket, waits no more.
	closed, upgraded bool
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.table.remove(c)
	return c.Conn.Close()
}

// add counts a connection, and closes another one for it where there are too many. Where
// that one has a moment left, nothing is done, and wait says how long it has; where none
// can be closed, added is false.
func (t *Connections) add(c *connection) (added bool, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open >= t.budget.Connections {
		other := t.longestWaiting(c.among)
		if other == nil {
			t.shed++
			return false, 0
		}
		if left := moment - time.Since(other.since); left > 0 {
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

// longestWaiting is the connection that may be closed for one that waits among these; nil
// for none. t.mu is held.
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

// forget counts a connection no more. t.mu is held.
func (t *Connections) forget(c *connection) {
	if c.closed {
		return
	}
	c.closed = true
	t.open--
	t.stopWaiting(c)
}

// startWaiting puts a connection among those that wait. t.mu is held.
func (t *Connections) startWaiting(c *connection) {
	c.place, c.since = c.among.PushBack(c), time.Now()
}

// stopWaiting takes a connection from those that wait. t.mu is held.
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

// Handler has connections wait whose request was answered: the rest of a body that nobody
// reads may never come.
func (t *Connections) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connectionOf(r); c != nil {
			defer t.wait(c)
		}
		next.ServeHTTP(w, r)
	})
}

// connectionOf is the connection that a request came on; nil where it is not counted.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}

// First has requests of these routes worked on as soon as they are there as a whole,
// however many there are. It belongs behind the routing.
func (t *Connections) First(routes ...string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			conn := connectionOf(r)
			switch {
			case conn == nil || !slices.Contains(routes, c.Path()):
			case r.Body == nil || r.Body == http.NoBody:
				t.work(conn)
			default:
				r.Body = &body{r.Body, func() { t.work(conn) }}
			}
			return next(c)
		}
	}
}

// body tells when the end of a request's body was read.
type body struct {
	io.ReadCloser
	whole func()
}

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if errors.Is(err, io.EOF) {
		b.whole()
	}
	return n, err
}

// work notes that the request of a connection is being worked on.
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

// State is the ConnState of a server that serves a Listener: it tells of connections that
// become WebSockets.
func (t *Connections) State(c net.Conn, s http.ConnState) {
	if mine, ok := c.(*connection); ok && s == http.StateHijacked {
		t.mu.Lock()
		mine.upgraded = true
		t.stopWaiting(mine)
		t.mu.Unlock()
	}
}

// Middleware refuses calls of the API beyond those that may be worked on at once.
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

// Stats are what operators watch.
type Stats struct {
	// Open are the connections there are, Limit those that there may be.
	Open, Limit int
	// Shed are connections that were closed because there were too many, Refused calls
	// of the API that were turned away.
	Shed, Refused int
}

// Stats returns the counts so far.
func (t *Connections) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{Open: t.open, Limit: t.budget.Connections, Shed: t.shed, Refused: t.refused}
}
