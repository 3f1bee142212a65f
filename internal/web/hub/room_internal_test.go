package hub

import (
	"bufio"
	"context"
	"encoding/json"
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

// The only live client leaves while what it missed is read, and another becomes
// live meanwhile: from where on is read does not change under the reader. Needs
// the race detector to tell.
func TestClientBecomesLiveWhileOthersCatchUp(t *testing.T) {
	t.Parallel()
	s, _ := storetest.InProcess(t, store.Options{})
	h := New(s, Options{}, slog.New(slog.DiscardHandler))
	t.Cleanup(h.close)
	for i := range 50 {
		r := &room{hub: h, userID: "u" + strconv.Itoa(i), clients: map[*client]bool{}, last: 3}
		next := &client{}
		r.clients[next] = false
		r.event(store.EventEnvelope{Seq: 5}) // 4 was missed
		if !r.goLive(next, 7, known{newest: 5}) {
			t.Fatal("a client that has read all there is does not become live")
		}
	}
}

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
			facts, _, _, err := s.Calls.Header(t.Context(), id)
			must.OK(t, err)
			for i := range 3 {
				must.Get(s.Calls.Progress(t.Context(), id, facts, fmt.Appendf(nil, `{"message":"%d"}`, i), strconv.Itoa(i)))(t)
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

// FuzzClientFrame feeds the reader of what WebSocket clients send.
func FuzzClientFrame(f *testing.F) {
	for _, seed := range []string{`{"type":"ping"}`, `{"type":"subscribe","requestId":"req_1"}`, `{"type":5}`, `[]`, `{"type":"unsubscribe"}`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &client{Request: Request{MayFollow: func(context.Context, job.ID) error { return nil }}}
		answer := c.handle(t.Context(), text)
		if answer.Type == "" || answer.Type == "error" && answer.Error == "" {
			t.Errorf("%q is answered %+v", text, answer)
		}
		if _, err := json.Marshal(answer); err != nil {
			t.Error(err)
		}
	})
}

func TestClientCannotMakeUsRememberWithoutEnd(t *testing.T) {
	t.Parallel()
	c := &client{}
	for i := range 3 * maxChosen {
		c.handle(t.Context(), fmt.Appendf(nil, `{"type":"unsubscribe","requestId":"req_%d"}`, i))
	}
	if len(c.muted) > maxChosen {
		t.Errorf("%d jobs are remembered", len(c.muted))
	}
}
