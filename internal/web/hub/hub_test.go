package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/internal/web/hub"
	"ringback/test/must"
)

// lossy passes on some events only, as a subscription may that drops messages.
func lossy(h *hub.Hub) store.Subscriber {
	count := 0
	return store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: func(e store.EventEnvelope) {
		if count++; count%3 == 0 {
			h.Event(e)
		}
	}}
}

// running is a hub that runs until the test ends, on a store of its own that it is
// not subscribed to yet.
func running(t *testing.T, o hub.Options) (*store.Store, *hub.Hub, context.Context) {
	t.Helper()
	s, _ := storetest.InProcess(t, store.Options{})
	h := hub.New(s, o, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go h.Run(ctx)
	return s, h, ctx
}

// connect opens a WebSocket for a request.
func connect(t *testing.T, h *hub.Hub, want hub.Request) *websocket.Conn {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r, want); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	must.OK(t, err)
	resp.Body.Close()
	t.Cleanup(func() { conn.Close() })
	return conn
}

// begin starts a job of a user.
func begin(t *testing.T, s *store.Store, user string) job.ID {
	t.Helper()
	return must.Get(lifecycle.New(s, nil, lifecycle.Options{}).Start(t.Context(), storetest.NewJob(user)))(t).ID
}

// report makes an event of a job, whose message is n.
func report(t *testing.T, s *store.Store, id job.ID, n int) {
	t.Helper()
	facts, _, _, err := s.Calls.Header(t.Context(), id)
	if err == nil {
		_, err = s.Calls.Progress(t.Context(), id, facts, fmt.Appendf(nil, `{"message":"%d"}`, n), fmt.Sprintf("%012d", n))
	}
	must.OK(t, err)
}

func TestMissedEventsAreNoticedByTheNextOne(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t, hub.Options{})
	go s.Events.Subscribe(ctx, lossy(h))

	id := begin(t, s, "u")
	conn := connect(t, h, hub.Request{UserID: "u", Resume: true})

	const count = 300
	var got, want []string
	for i := range count {
		report(t, s, id, i)
		want = append(want, strconv.Itoa(i))
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	for len(got) < count-3 { // the last ones may wait for a next event
		var e struct {
			Data struct{ Message string }
		}
		if err := conn.ReadJSON(&e); err != nil {
			t.Fatalf("after %d events: %v", len(got), err)
		}
		if e.Data.Message != "" {
			got = append(got, e.Data.Message)
		}
	}
	must.Equal(t, want[:len(got)], got)
}

// Long events are read in several pages, and all of them arrive, in order.
func TestLongEventsAreReplayed(t *testing.T) {
	t.Parallel()
	s, h, _ := running(t, hub.Options{})
	id := begin(t, s, "u")
	facts, _, _, err := s.Calls.Header(t.Context(), id)
	must.OK(t, err)
	var want, got []string
	for i, size := range []int{300_000, 900_000, 2_000_000, 10, 1_500_000, 600_000, 600_000} {
		want = append(want, strconv.Itoa(i)+strings.Repeat("x", size))
		must.Get(s.Calls.Progress(t.Context(), id, facts, fmt.Appendf(nil, `{"message":%q}`, want[i]), strconv.Itoa(i)))(t)
	}
	conn := connect(t, h, hub.Request{UserID: "u", Resume: true})
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	for len(got) < len(want) {
		var e struct {
			Data struct{ Message string }
		}
		must.OK(t, conn.ReadJSON(&e))
		if e.Data.Message != "" {
			got = append(got, e.Data.Message)
		}
	}
	if !slices.Equal(want, got) {
		t.Error("other events arrived, or in another order")
	}
}

// A user's very first events are published while nobody is subscribed yet: the
// client hears of them all the same, once the subscription stands or with the
// next event.
func TestFirstEventsOfAUserAreNotMissed(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t, hub.Options{})
	listen := func(user string) *websocket.Conn {
		conn := connect(t, h, hub.Request{UserID: user})
		must.OK(t, conn.WriteJSON(map[string]string{"type": "ping"}))
		var pong map[string]string
		if err := conn.ReadJSON(&pong); err != nil || pong["type"] != "pong" {
			t.Fatal(err, pong)
		}
		return conn
	}
	heard := func(conn *websocket.Conn, count int) []string {
		var names []string
		for range count {
			var e struct{ Event string }
			must.OK(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
			if err := conn.ReadJSON(&e); err != nil {
				t.Fatalf("after %v: %v", names, err)
			}
			names = append(names, e.Event)
		}
		return names
	}

	before, gap := listen("before"), listen("gap")
	begin(t, s, "before")
	begin(t, s, "gap")
	go s.Events.Subscribe(ctx, store.Subscriber{EventFunc: h.Event, ResubscribedFunc: h.Resubscribed}) // which resets the hub once it stands
	must.Equal(t, []string{"k:pending"}, heard(before, 1))
	begin(t, s, "gap")
	must.Equal(t, []string{"k:pending", "k:pending"}, heard(gap, 2))
}

// What is queued for a client that does not read is bounded by number and by size.
func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]hub.Options{
		"many frames":  {QueueLimit: 10, QueueBytes: 1 << 40},
		"large frames": {QueueLimit: 1 << 40, QueueBytes: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h, ctx := running(t, o)
			go s.Events.Subscribe(ctx, store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: h.Event})
			id := begin(t, s, "u")
			conn := connect(t, h, hub.Request{UserID: "u", RequestID: id, Resume: true})
			_, _, err := conn.ReadMessage() // the job is pending
			must.OK(t, err)
			facts, _, _, err := s.Calls.Header(t.Context(), id)
			must.OK(t, err)
			long := []byte(`{"message":"` + strings.Repeat("x", 100_000) + `"}`)
			for i := range 300 { // far more than the system keeps of a connection
				must.Get(s.Calls.Progress(t.Context(), id, facts, long, fmt.Sprintf("%012d", i)))(t)
			}
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			for err == nil {
				_, _, err = conn.ReadMessage()
			}
			if !websocket.IsCloseError(err, int(hub.CloseSlow)) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// A frame that is larger than the queue is sent all the same.
func TestALargeFrameIsSent(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t, hub.Options{QueueBytes: 10})
	go s.Events.Subscribe(ctx, store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: h.Event})
	id := begin(t, s, "u")
	for i := range 5 {
		report(t, s, id, i)
	}
	conn := connect(t, h, hub.Request{UserID: "u", RequestID: id, Resume: true, Since: job.Seq(0)})
	for range 6 { // the job is pending, too
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, _, err := conn.ReadMessage(); err != nil {
			t.Fatal(err)
		}
	}
}

// A client that reads slowly loses pieces of text, but no event, and it is not cut off.
func TestASlowClientLosesTextOnly(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t, hub.Options{QueueLimit: 100, WriteTimeout: time.Minute})
	go s.Events.Subscribe(ctx, store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: h.Event})
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
	go s.Events.Subscribe(ctx, store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: h.Event})
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
