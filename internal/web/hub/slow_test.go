package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/internal/web/hub"
	"ringback/test/must"
)

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
			go s.Subscribe(ctx, store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: h.Event})
			id := begin(t, s, "u")
			conn := connect(t, h, hub.Request{UserID: "u", RequestID: id, Resume: true})
			_, _, err := conn.ReadMessage() // the job is pending
			must.OK(t, err)
			facts, _, _, err := s.Header(t.Context(), id)
			must.OK(t, err)
			long := []byte(`{"message":"` + strings.Repeat("x", 100_000) + `"}`)
			for i := range 300 { // far more than the system keeps of a connection
				must.Get(s.Progress(t.Context(), id, facts, long, fmt.Sprintf("%012d", i)))(t)
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
	go s.Subscribe(ctx, store.Subscriber{ResubscribedFunc: h.Resubscribed, EventFunc: h.Event})
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
