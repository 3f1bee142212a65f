package rig

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/scan"
)

// Listener is a WebSocket client. It separates chat events from job events.
type Listener struct {
	t        testing.TB
	Conn     *websocket.Conn
	Frames   chan harness.Object
	messages chan harness.Object
	Closed   chan error
}

// Listen connects with the given query.
func (n *Node) Listen(t testing.TB, query string) *Listener {
	t.Helper()
	conn := harness.Dial(t, n.URL, query, nil)
	l := &Listener{t: t, Conn: conn, Frames: make(chan harness.Object, 4096), messages: make(chan harness.Object, 4096), Closed: make(chan error, 1)}
	go func() {
		for {
			var frame harness.Object
			_, text, err := conn.ReadMessage()
			if err == nil {
				n.Secrets.Look(t, scan.Place{Where: scan.Frame}, text)
				err = json.Unmarshal(text, &frame)
			}
			if err != nil {
				l.Closed <- err
				return
			}
			if event, _ := frame["event"].(string); strings.HasSuffix(event, ":message") {
				l.messages <- frame
			} else {
				l.Frames <- frame
			}
		}
	}()
	return l
}

// Next returns the next frame.
func (l *Listener) Next() harness.Object {
	l.t.Helper()
	select {
	case frame := <-l.Frames:
		return frame
	case err := <-l.Closed:
		l.t.Fatalf("the WebSocket closed: %v", err)
	case <-time.After(must.Patience):
		l.t.Fatal("gave up waiting for a WebSocket frame")
	}
	return nil
}

// Until returns all frames up to the one with the given event name.
func (l *Listener) Until(event string) []harness.Object {
	l.t.Helper()
	var frames []harness.Object
	for {
		frame := l.Next()
		frames = append(frames, frame)
		if frame["event"] == event {
			return frames
		}
	}
}

// Message returns the data of the next message event with an action.
func (l *Listener) Message(action string) harness.Object {
	l.t.Helper()
	for {
		select {
		case frame := <-l.messages:
			if data := frame["data"].(harness.Object); data["action"] == action {
				return data
			}
		case <-time.After(must.Patience):
			l.t.Fatalf("gave up waiting for a message event %s", action)
		}
	}
}

// Written returns the text that a listener receives, until it is as long as want.
func (l *Listener) Written(want string) string {
	l.t.Helper()
	joined, last := "", 0.0
	for len(joined) < len(want) {
		frame := l.Until("recipes:suggestions:text")
		data := frame[len(frame)-1]["data"].(harness.Object)
		if _, hasID := frame[len(frame)-1]["id"]; hasID {
			l.t.Error("a piece of text has an id")
		}
		switch piece := data["piece"].(float64); {
		case data["whole"] == true:
			joined, last = data["text"].(string), piece
		case piece == last+1:
			joined, last = joined+data["text"].(string), piece
		default:
			l.t.Errorf("piece %v came after %v", piece, last)
		}
	}
	return joined
}

// EventNames returns the event names of frames.
func EventNames(frames []harness.Object) []string {
	list := make([]string, len(frames))
	for i, f := range frames {
		list[i], _ = f["event"].(string)
	}
	return list
}
