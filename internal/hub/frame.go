package hub

import (
	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/store"
)

// frame is one message to clients, encoded once for all of them.
type frame struct {
	seq       job.Seq // 0 for what is not an event
	requestID job.ID
	message   *websocket.PreparedMessage
	// control and data are a ping or pong, when message is nil.
	control int
	data    string
}

func newFrame(e store.EventEnvelope) *frame {
	return &frame{seq: e.Seq, requestID: e.RequestID, message: prepare(e.Frame)}
}

func prepare(text []byte) *websocket.PreparedMessage {
	message, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
	if err != nil {
		panic("hub: " + err.Error()) // only an unknown message type fails
	}
	return message
}

// resync tells a client that events it asked for are no longer kept.
var resync = &frame{message: prepare([]byte(`{"event":"resync"}`))}
