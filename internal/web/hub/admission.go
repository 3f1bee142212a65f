package hub

import (
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
)

// admission counts the open connections and enforces Limits, so that one user or address
// cannot use up all of a node's connections.
type admission struct {
	limits Limits
	// refused is called with the name of the limit that turned a connection away.
	refused func(reason string)

	mu               sync.Mutex
	all              int
	users, addresses map[string]int // by user, by address
}

// Limits are the maximum numbers of concurrent connections; 0 means no limit.
type Limits struct {
	// Node limits all connections, User those of one user, and Address those from one address.
	Node, User, Address int
}

// enter counts a new connection, or returns an error if a limit is reached.
func (a *admission) enter(userID, address string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch full := func(n, limit int) bool { return limit > 0 && n >= limit }; {
	case full(a.users[userID], a.limits.User):
		a.refused("user")
		return job.Errorf(job.TooMany, "Too many WebSockets of this user (limit %d)", a.limits.User).
			WithHint("Close some, or connect later. One WebSocket receives the events of all jobs of its user. WEBSOCKETS_PER_USER sets the limit.")
	case full(a.addresses[address], a.limits.Address):
		a.refused("address")
		return job.Errorf(job.TooMany, "Too many WebSockets from this address (limit %d)", a.limits.Address).
			WithHint("Connect later. WEBSOCKETS_PER_ADDRESS sets the limit; behind a proxy, set TRUSTED_PROXIES to distinguish its clients.")
	case full(a.all, a.limits.Node):
		a.refused("node")
		return job.Errorf(job.Unavailable, "The server has too many WebSockets (limit %d)", a.limits.Node).
			WithHint("Connect again after Retry-After seconds, to another node if there is one. WEBSOCKETS and the limit of open files (ulimit -n) set the limit.")
	}
	a.all++
	a.users[userID]++
	a.addresses[address]++
	return nil
}

func (a *admission) leave(userID, address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all--
	lower(a.users, userID)
	lower(a.addresses, address)
}

func lower(counts map[string]int, name string) {
	if counts[name]--; counts[name] <= 0 {
		delete(counts, name)
	}
}

// farewell is the time that a refused client has to close its side.
const farewell = 2 * time.Second

// maxReason is the maximum length of a close reason, in bytes (RFC 6455).
const maxReason = 123

// Refuse accepts a WebSocket only to close it with a code and a reason. To a page, a rejected
// handshake would look as if the server were down. Refuse sends nothing but the close frame
// and ignores what the client sends.
func (h *Hub) Refuse(w http.ResponseWriter, r *http.Request, code CloseCode, reason string) error {
	conn, _, err := upgrade(w, r)
	if conn == nil {
		return err
	}
	defer conn.Close()
	deadline := time.Now().Add(farewell)
	if conn.SetReadDeadline(deadline) != nil {
		return nil // the connection is gone
	}
	message := websocket.FormatCloseMessage(int(code), excerpt.Head(reason, maxReason))
	if conn.WriteControl(websocket.CloseMessage, message, deadline) != nil {
		return nil
	}
	// Closing with unread input would reset the connection, and the client could lose the
	// reason.
	conn.SetReadLimit(refusedLimit)
	for {
		if _, _, err := conn.NextReader(); err != nil {
			return nil
		}
	}
}

// refusedLimit is the maximum size of a frame read from a refused client.
const refusedLimit = 4 << 10
