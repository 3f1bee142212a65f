package hub

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The store loses events after they were read for a client, and before the client has received them.
// It is told that they are gone, although no other event follows.
func TestAClientIsToldOfEventsThatWereLostWhileItReceivedThem(t *testing.T) {
	t.Parallel()
	for name, isLive := range map[string]bool{"past events of a new client": false, "what a live client had missed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, redis := storetest.InProcess(t, store.Options{})
			h := New(s, Options{}, slog.New(slog.DiscardHandler))
			t.Cleanup(h.close)
			id := must.Get(lifecycle.New(s, nil, lifecycle.Options{}).Start(t.Context(), storetest.NewJob("u")))(t).ID
			facts, _, _, err := s.Header(t.Context(), id)
			must.OK(t, err)
			for i := range 3 {
				must.Get(s.Progress(t.Context(), id, facts, fmt.Appendf(nil, `{"message":"%d"}`, i), strconv.Itoa(i)))(t)
			}
			ours, theirs := net.Pipe()
			t.Cleanup(func() { theirs.Close() })
			c := &client{hub: h, Request: Request{UserID: "u"}, net: ours, silent: make(chan struct{})}
			c.space = sync.NewCond(&c.mu)
			h.join(c)
			before := c.room.known()
			past, _ := h.readPast("u", 0)

			must.OK(t, redis.Client.FlushAll(t.Context()).Err())
			h.Resubscribed()

			if isLive {
				c.room.clients[c], c.room.behind = true, true
				for c.room.replayed(past, before) {
					before = c.room.known()
					past, _ = h.readPast("u", before.last)
				}
			} else {
				for _, e := range past.Events {
					c.wait(newFrame(e))
				}
				if c.room.goLive(c, past.Last, before) {
					t.Fatal("it became live with events that are gone")
				}
				c.Since = past.Last
				c.replay(c.room)
			}
			must.Equal(t, job.Seq(0), c.room.last)
			heard := bufio.NewReader(theirs)
			must.OK(t, theirs.SetReadDeadline(time.Now().Add(10*time.Second)))
			for got := ""; !strings.Contains(got, `"resync"`); {
				b, err := heard.ReadByte()
				must.OK(t, err)
				got += string(b)
			}
		})
	}
}
