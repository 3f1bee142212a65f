package guard

import (
	"container/list"
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/netutil"
	"golang.org/x/sys/unix"

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
	// open counts all connections. The lists contain those without a request in progress, the longest-waiting
	// first: at a callback listener, at a tunnel listener, and the others. WebSockets are in none.
	open                      int
	calls, callbacks, tunnels *list.List
	shed                      int

	// answering has an element for each API call in progress.
	answering chan struct{}
	refused   atomic.Int64
}

// NewConnections returns a guard that enforces a budget.
func NewConnections(b Budget) *Connections {
	return &Connections{
		budget: b, calls: list.New(), callbacks: list.New(), tunnels: list.New(), answering: make(chan struct{}, b.Calls),
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
	// waiting contains the connections of this listener without a request in progress.
	waiting *list.List
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
		c := &connection{Conn: accepted, table: l.table, list: l.waiting}
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
	// waits is the connection's element of list; nil while a request is in progress, and once it was closed
	// or became a WebSocket. It has waited since the time since.
	list  *list.List
	waits *list.Element
	since time.Time
	// hijacked is true for a WebSocket.
	closed, hijacked bool
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.update(c.table.forget)
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
	if c.list == t.tunnels && t.tunnels.Len() >= t.budget.Connections/2 {
		t.shed++
		return false, 0
	}
	if t.open >= t.budget.Connections {
		other := t.longestWaiting(c.list)
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
	c.wait()
	return true, 0
}

// longestWaiting returns the connection that may be closed for a new one of these; nil for
// none. t.mu must be held.
func (t *Connections) longestWaiting(these *list.List) *connection {
	from := t.calls
	crowded := t.callbacks.Len() > max(t.calls.Len(), t.budget.Callbacks)
	if crowded || these == t.callbacks && t.calls.Len() == 0 {
		from = t.callbacks
	}
	if from.Len() == 0 {
		return nil
	}
	c, _ := from.Front().Value.(*connection)
	return c
}

// wait records that no request of a connection is in progress. Connections.mu must be held.
func (c *connection) wait() {
	if c.waits == nil && !c.closed && !c.hijacked {
		c.waits, c.since = c.list.PushBack(c), time.Now()
	}
}

// stopWaiting records that a request of a connection is in progress, or that it cannot be closed for
// another one. Connections.mu must be held.
func (c *connection) stopWaiting() {
	if c.waits != nil {
		c.list.Remove(c.waits)
		c.waits = nil
	}
}

// forget stops counting a connection. t.mu must be held.
func (t *Connections) forget(c *connection) {
	if c.closed {
		return
	}
	c.closed = true
	t.open--
	c.stopWaiting()
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
			defer c.update((*connection).wait)
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
		c.update((*connection).stopWaiting)
	}
}

func (c *connection) update(change func(*connection)) {
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	change(c)
}

// State is the ConnState of a server that serves a Listener. It tracks connections that
// become WebSockets.
func (t *Connections) State(c net.Conn, s http.ConnState) {
	if mine, ok := c.(*connection); ok && s == http.StateHijacked {
		mine.update(func(c *connection) {
			c.hijacked = true
			c.stopWaiting()
		})
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

// Budget is a node's division of its file descriptors.
type Budget struct {
	// Connections is the maximum number of open connections at all listeners, including
	// WebSockets.
	Connections int
	// WebSockets is the maximum number of open WebSockets, of all users.
	WebSockets int
	// Calls is the maximum number of API calls in progress. The connections beyond
	// WebSockets and Calls are reserved for callbacks and health.
	Calls int
	// Callbacks is the number of connections of a callback listener that wait for a request and are
	// never closed for an API connection.
	Callbacks int
	// Door is the maximum number of open connections at each of the doors of a job, so that a job
	// cannot keep all of Connections.
	Door int
}

const (
	// ownDescriptors are for the store, the log and the like, and for operators; turnDescriptors for each
	// turn's files, pipes and git.
	ownDescriptors, turnDescriptors = 64 + operatorConnections, 16
	// operatorConnections is the maximum number of connections at the operators' listener.
	operatorConnections = 16
	// mostReserved is the maximum number of connections reserved for callbacks and health.
	mostReserved = 1024
	// leastConnections is the minimum number of connections that a node needs.
	leastConnections = 32
	// leastAtDoor and mostAtDoor bound the connections at one door.
	leastAtDoor, mostAtDoor = 4, 64
)

// DivideDescriptors divides the descriptors of a node with the given number of workers.
// webSockets is the maximum number of WebSockets; 0 for as many as possible.
func DivideDescriptors(descriptors, workers, webSockets int) Budget {
	all := max(leastConnections, descriptors-ownDescriptors-turnDescriptors*workers)
	reserved := min(all/4, mostReserved)
	others := all - reserved
	b := Budget{Connections: all, WebSockets: others * 3 / 4, Callbacks: reserved}
	if webSockets > 0 {
		b.WebSockets = min(b.WebSockets, webSockets)
	}
	b.Calls = others - others*3/4
	b.Door = min(max(leastAtDoor, all/(16*max(1, workers))), mostAtDoor)
	return b
}

// OperatorBudget is the budget of the operators' listener. It has connections of its own, so that operators learn
// about a crowd at the others.
var OperatorBudget = Budget{Connections: operatorConnections, Calls: operatorConnections / 2}

// Descriptors returns the maximum number of open descriptors of this process
// (RLIMIT_NOFILE). The Go runtime has already raised the soft limit to the hard limit.
func Descriptors() int {
	const unknown, most = 1024, 1 << 20
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return unknown
	}
	return int(min(limit.Cur, uint64(most), math.MaxInt32))
}
