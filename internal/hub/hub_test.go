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
	"ringback/internal/lifecycle"
	"ringback/internal/store"
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
	log := slog.New(slog.DiscardHandler)
	embedded := must.Get(store.StartInProcess())(t)
	t.Cleanup(embedded.Close)
	s := store.New(embedded.Client, store.Options{}, log)
	must.OK(t, s.Prepare(t.Context()))
	h := hub.New(s, o, log)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go h.Run(ctx)
	return s, h, ctx
}

// begin starts a job of the user u.
func begin(t *testing.T, s *store.Store) job.ID {
	t.Helper()
	j := must.Get(lifecycle.New(s, nil, lifecycle.Options{}).Start(t.Context(), lifecycle.NewJob{Kind: "k", UserID: "u", Input: json.RawMessage(`{}`), EventPrefix: "k", Priority: job.Interactive, CallbackTimeout: time.Minute, MaxAttempts: 1}))(t)
	return j.ID
}

// report makes an event of a job, whose message is n.
func report(t *testing.T, s *store.Store, id job.ID, n int) {
	t.Helper()
	facts, _, _, err := s.Header(t.Context(), id)
	if err == nil {
		_, err = s.Progress(t.Context(), id, facts, fmt.Appendf(nil, `{"message":"%d"}`, n), fmt.Sprintf("%012d", n))
	}
	must.OK(t, err)
}

func TestMissedEventsAreNoticedByTheNextOne(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t, hub.Options{})
	go s.Subscribe(ctx, lossy(h))

	id := begin(t, s)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r, hub.Request{UserID: "u", Resume: true}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	must.OK(t, err)
	resp.Body.Close()
	defer conn.Close()

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
