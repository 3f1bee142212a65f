package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/hub"
	"ringback/internal/job"
	"ringback/internal/store"
)

// A client that reads slowly loses pieces of text, but no event, and it is not cut off.
func TestASlowClientLosesTextOnly(t *testing.T) {
	t.Parallel()
	embedded, err := store.StartInProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(embedded.Close)
	log := slog.New(slog.DiscardHandler)
	s := store.New(embedded.Client, store.Options{}, log)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := hub.New(s, hub.Options{QueueLimit: 100, WriteTimeout: time.Minute}, log)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go h.Run(ctx)
	const id = job.ID("req_00_one")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r, hub.Request{UserID: "u", RequestID: id, Text: true}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	defer conn.Close()
	if err := conn.WriteJSON(map[string]any{"type": "ping"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.ReadMessage(); err != nil { // from now on it hears all, and reads nothing for a while
		t.Fatal(err)
	}
	const pieces, events = 5000, 70
	filler := strings.Repeat("x", 4000)
	for i := range pieces {
		h.Text(store.TextEnvelope{RequestID: id, UserID: "u", Frame: fmt.Appendf(nil, `{"event":"k:text","data":{"piece":%d,"text":%q}}`, i+1, filler)})
		if every := pieces / events; i%every == 0 && i/every < events {
			seq := job.Seq(i/every + 1)
			h.Event(store.EventEnvelope{Seq: seq, After: seq - 1, RequestID: id, UserID: "u", Frame: fmt.Appendf(nil, `{"event":"k:activity","id":"%d","data":{}}`, seq)})
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
			Event, ID string
			Data      struct{ Piece float64 }
		}
		if err := json.Unmarshal(text, &frame); err != nil {
			t.Fatal(err)
		}
		switch frame.Event {
		case "k:text":
			if frame.Data.Piece <= last {
				t.Errorf("piece %v came after %v", frame.Data.Piece, last)
			}
			last = frame.Data.Piece
			got++
		case "k:activity":
			if heard++; frame.ID != strconv.Itoa(heard) {
				t.Fatalf("event %s came in place of %d", frame.ID, heard)
			}
		default:
			t.Fatalf("it was told %s", text)
		}
	}
	if got >= pieces {
		t.Errorf("it got all %d pieces: it was not slow", got)
	}
}
