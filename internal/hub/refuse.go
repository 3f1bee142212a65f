package hub

import (
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/excerpt"
)

// farewell is how long a client that was refused may take to close its side.
const farewell = 2 * time.Second

// maxReason is the most bytes of a close frame's reason (RFC 6455).
const maxReason = 123

// Refuse accepts a WebSocket, says why it cannot be, and closes it. A refused
// handshake would look to a page as if no server were there. Nothing is sent on
// it but the close frame, and nothing that the client sends is looked at.
func (h *Hub) Refuse(w http.ResponseWriter, r *http.Request, code CloseCode, reason string) error {
	conn, err := upgrade(w, r)
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
	// Closing while something of the client's lies unread would reset the
	// connection, and the reason could be lost with it.
	conn.SetReadLimit(refusedLimit)
	for {
		if _, _, err := conn.NextReader(); err != nil {
			return nil
		}
	}
}

// refusedLimit is the longest frame that is read from a client that was refused.
const refusedLimit = 4 << 10
