package hub_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
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

// A user's very first events are published while nobody is subscribed yet: the
// client hears of them all the same, once the subscription stands or with the
// next event.
func TestFirstEventsOfAUserAreNotMissed(t *testing.T) {
	t.Parallel()
	s, h, ctx := running(t, hub.Options{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r, hub.Request{UserID: r.URL.Query().Get("user")}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	listen := func(user string) *websocket.Conn {
		conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http")+"?user="+user, nil)
		must.OK(t, err)
		resp.Body.Close()
		t.Cleanup(func() { conn.Close() })
		must.OK(t, conn.WriteJSON(map[string]string{"type": "ping"}))
		var pong map[string]string
		if err := conn.ReadJSON(&pong); err != nil || pong["type"] != "pong" {
			t.Fatal(err, pong)
		}
		return conn
	}
	create := func(user string) {
		must.Get(lifecycle.New(s, nil, lifecycle.Options{}).Start(t.Context(), lifecycle.NewJob{Kind: "k", UserID: user, Input: json.RawMessage(`{}`), EventPrefix: "k", Priority: job.Interactive, CallbackTimeout: time.Minute, MaxAttempts: 1}))(t)
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
	create("before")
	create("gap")
	go s.Subscribe(ctx, store.Subscriber{EventFunc: h.Event, ResubscribedFunc: h.Resubscribed}) // which resets the hub once it stands
	must.Equal(t, []string{"k:pending"}, heard(before, 1))
	create("gap")
	must.Equal(t, []string{"k:pending", "k:pending"}, heard(gap, 2))
}
