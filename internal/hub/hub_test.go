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

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"ringback/internal/hub"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
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
func running(t *testing.T) (*store.Store, *hub.Hub, context.Context) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	embedded, err := store.StartInProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(embedded.Close)
	s := store.New(embedded.Client, store.Options{}, log)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := hub.New(s, hub.Options{}, log)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go h.Run(ctx)
	return s, h, ctx
}

func TestMissedEventsAreNoticedByTheNextOne(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t)
	go s.Subscribe(ctx, lossy(h))

	j, err := lifecycle.New(s, nil, lifecycle.Options{}).Start(t.Context(), lifecycle.NewJob{Kind: "k", UserID: "u", Input: json.RawMessage(`{}`), EventPrefix: "k", Priority: job.Interactive, CallbackTimeout: time.Minute, MaxAttempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r, hub.Request{UserID: "u", Resume: true}); err != nil {
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

	facts, _, _, err := s.Header(t.Context(), j.ID)
	if err != nil {
		t.Fatal(err)
	}
	const count = 300
	var got, want []string
	for i := range count {
		activity := fmt.Sprintf(`{"message":"%d"}`, i)
		if _, err := s.Progress(t.Context(), j.ID, facts, json.RawMessage(activity), fmt.Sprintf("%012d", i)); err != nil {
			t.Fatal(err)
		}
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
	if diff := cmp.Diff(want[:len(got)], got); diff != "" {
		t.Error(diff)
	}
}
