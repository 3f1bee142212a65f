package hub

import (
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/text/excerpt"
)

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
