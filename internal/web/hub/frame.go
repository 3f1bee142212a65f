package hub

import (
	"encoding/binary"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/internal/web/contract"
)

// frame is a frame to clients, encoded once for all of them.
type frame struct {
	seq       job.Seq // 0 for frames that are not events
	requestID job.ID
	// bytes is the encoded frame (RFC 6455).
	bytes []byte
}

func newFrame(e store.EventEnvelope) *frame {
	return &frame{seq: e.Seq, requestID: e.RequestID, bytes: encode(websocket.TextMessage, e.Frame())}
}

// encode returns an encoded WebSocket frame of the given type. The library would make a copy
// for each client.
func encode[T string | []byte](kind byte, payload T) []byte {
	b := make([]byte, 0, 10+len(payload))
	b = append(b, 1<<7|kind) // a whole message
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}

// resync informs a client that events are missing: they are no longer kept, or the store has
// lost events that the client received.
var resync = &frame{bytes: encode(websocket.TextMessage, `{"event":"resync"}`)}

// pinger is a ping frame.
var pinger = &frame{bytes: encode(websocket.PingMessage, "")}

// The types of frames that have no other Go type.
type (
	plainFrame struct {
		Type string `json:"type"`
	}
	choiceFrame struct {
		Type string `json:"type"`
		// RequestID is the job to subscribe to or unsubscribe from.
		RequestID job.ID `json:"requestId"`
		// Text is true to subscribe also to the text while Claude writes it, or to unsubscribe only from
		// the text.
		Text bool `json:"text,omitempty"`
	}
	resyncFrame struct {
		Event string `json:"event"`
	}
)

// Frames describes the frames of a connection other than events. Replies are described
// elsewhere.
func Frames() []contract.Frame {
	return []contract.Frame{
		{Name: "ping", ByClient: true, Text: "Pings the server, which answers with `pong`.", Type: plainFrame{}},
		{
			Name: "subscribe", ByClient: true,
			Text: "Subscribes to the events of one job, with `text` also to the text that Claude is writing; answered by an `ack`.",
			Type: choiceFrame{},
		},
		{
			Name: "unsubscribe", ByClient: true,
			Text: "Ends the subscription, with `text` only that to the text; answered by an `ack`.", Type: choiceFrame{},
		},
		{Name: "pong", Text: "Answers a `ping`.", Type: plainFrame{}},
		{Name: "ack", Text: "A frame was accepted; after a reply, `checkpoint` is the question's new state.", Type: outgoing{}},
		{Name: "error", Text: "A frame was refused, with the reason.", Type: outgoing{}},
		{
			Name: "text", Prefixed: true, Text: "A piece of the text that Claude is writing, for subscribed clients.",
			Type: job.TextEvent{},
		},
		{Name: "resync", Text: "Events are missing before the next one: read again over HTTP what is shown.", Type: resyncFrame{}},
	}
}
