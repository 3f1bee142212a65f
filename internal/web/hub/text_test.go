package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/internal/web/hub"
	"ringback/test/must"
)

// A client that reads slowly loses pieces of text, but no event, and it is not cut off.
func TestASlowClientLosesTextOnly(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t, hub.Options{QueueLimit: 100, WriteTimeout: time.Minute})
	go s.Subscribe(ctx, store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: h.Event})
	id := begin(t, s, "u")
	conn := connect(t, h, hub.Request{UserID: "u", RequestID: id, Resume: true, Text: true})
	const pieces, events = 5000, 70
	filler := strings.Repeat("x", 4000)
	for i := range pieces {
		h.Text(store.TextEnvelope{RequestID: id, UserID: "u", Frame: fmt.Sprintf(`{"event":"k:text","data":{"piece":%d,"text":%q}}`, i+1, filler)})
		if every := pieces / events; i%every == 0 && i/every < events {
			report(t, s, id, i/every)
		}
	}
	heard, last, got := 0, 0.0, 0
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	for heard < events {
		_, text, err := conn.ReadMessage()
		if err != nil {
			t.Fatalf("after %d events and %d pieces: %v", heard, got, err)
		}
		var frame struct {
			Event string
			Data  struct {
				Piece   float64
				Message string
			}
		}
		must.OK(t, json.Unmarshal(text, &frame))
		switch frame.Event {
		case "k:text":
			if frame.Data.Piece <= last {
				t.Errorf("piece %v came after %v", frame.Data.Piece, last)
			}
			last = frame.Data.Piece
			got++
		case "k:activity":
			if frame.Data.Message != strconv.Itoa(heard) {
				t.Fatalf("event %s came in place of %d", frame.Data.Message, heard)
			}
			heard++
		}
	}
	if got >= pieces {
		t.Errorf("it got all %d pieces: it was not slow", got)
	}
}

// A client that ends only the text of a job still gets its events.
func TestTextAloneCanBeEnded(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t, hub.Options{})
	go s.Subscribe(ctx, store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: h.Event})
	id := begin(t, s, "u")
	conn := connect(t, h, hub.Request{
		UserID: "u", Resume: true, MayFollow: func(context.Context, job.ID) error { return nil },
	})
	next := func() string {
		t.Helper()
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		for {
			_, text, err := conn.ReadMessage()
			must.OK(t, err)
			for _, name := range []string{"ack", "k:text", "7"} {
				if strings.Contains(string(text), `"`+name+`"`) {
					return name
				}
			}
		}
	}
	write := func() {
		h.Text(store.TextEnvelope{RequestID: id, UserID: "u", Frame: `{"event":"k:text","data":{"text":"x"}}`})
	}
	send := func(kind string) {
		t.Helper()
		must.OK(t, conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":%q,"requestId":%q,"text":true}`, kind, id)))
		must.Equal(t, "ack", next())
	}
	send("subscribe")
	write()
	must.Equal(t, "k:text", next())
	send("unsubscribe")
	write()
	report(t, s, id, 7)
	must.Equal(t, "7", next())
}
