package hub

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/store"
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

// gatherLimit is the number of bytes after which gathered frames are written.
const gatherLimit = 32 << 10

// writeFrames writes frames with as few system calls as possible.
func writeFrames(to net.Conn, frames []*frame) error {
	if len(frames) == 1 {
		_, err := to.Write(frames[0].bytes)
		return err
	}
	var gathered bytes.Buffer
	for i, f := range frames {
		gathered.Write(f.bytes)
		if gathered.Len() < gatherLimit && i < len(frames)-1 {
			continue
		}
		if _, err := to.Write(gathered.Bytes()); err != nil {
			return err
		}
		gathered.Reset()
	}
	return nil
}

// noBuffers stops the library from allocating a write buffer for each connection.
var noBuffers sync.Pool
