package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// listeners are the browsers of all users.
type listeners struct {
	world  *world
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu   sync.Mutex
	ears map[string]*ear
}

// ear is one user's browser: it receives events over as many connections as necessary, each
// of which resumes from the end of the previous one.
type ear struct {
	user string
	// heard contains the received events in order.
	heard []heard
	ids   map[int64]bool
	// ends contains channels that are closed when the end of a job is received.
	ends map[string]chan struct{}
}

// heard is one event, or with resync a gap between the events before and after it.
type heard struct {
	id         int64
	job, event string
	resync     bool
}

func isTerminal(event string) bool {
	return slices.ContainsFunc([]string{":received", ":error", ":cancelled", ":rejected"}, func(end string) bool { return strings.HasSuffix(event, end) })
}

// startListeners connects a browser for each user.
func (w *world) startListeners() *listeners {
	ctx, cancel := context.WithCancel(w.t.Context())
	l := &listeners{world: w, cancel: cancel, ears: map[string]*ear{}}
	for i := range w.users + w.topology.crowd.users {
		e := &ear{user: fmt.Sprint("u", i), ids: map[int64]bool{}, ends: map[string]chan struct{}{}}
		l.ears[e.user] = e
		l.done.Go(func() { l.listen(ctx, e) })
	}
	w.ears = l
	return l
}

func (l *listeners) stop() {
	l.cancel()
	l.done.Wait()
}

// ended returns a channel that is closed once the user's browser has received a job's end.
func (l *listeners) ended(user, job string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ears[user].end(job)
}

func (e *ear) end(job string) chan struct{} {
	if e.ends[job] == nil {
		e.ends[job] = make(chan struct{})
	}
	return e.ends[job]
}

func (l *listeners) listen(ctx context.Context, e *ear) {
	since := "0"
	for ctx.Err() == nil {
		url := fmt.Sprintf("ws://%s/ws?userId=%s&since=%s", l.world.entry.Addr, e.user, since)
		conn, resp, err := websocket.DefaultDialer.DialContext(ctx, url, header(l.world.key))
		if err != nil {
			pause(100)
			continue
		}
		resp.Body.Close()
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		since = l.hear(conn, e, since)
		stop()
		conn.Close()
	}
}

// hear reads a connection to its end, which this browser sometimes causes itself, and
// returns the id of the last event.
func (l *listeners) hear(conn *websocket.Conn, e *ear, since string) string {
	leave := time.Now().Add(time.Duration(rand.IntN(20_000)) * time.Millisecond)
	for time.Now().Before(leave) {
		var frame struct {
			ID, Event, RequestID string
		}
		_ = conn.SetReadDeadline(time.Now().Add(25 * time.Second))
		_, text, err := conn.ReadMessage()
		if err != nil {
			return since
		}
		if err := json.Unmarshal(text, &frame); err != nil {
			l.world.t.Errorf("user %s was sent %s", e.user, text)
			return since
		}
		id, err := strconv.ParseInt(frame.ID, 10, 64)
		if err != nil && frame.Event != "resync" {
			l.world.t.Errorf("user %s was sent an event without an id: %s", e.user, text)
			return since
		}
		if err == nil {
			since = frame.ID
		}
		l.take(e, heard{id, frame.RequestID, frame.Event, frame.Event == "resync"})
	}
	return since
}

func (l *listeners) take(e *ear, h heard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.resync {
		l.world.journal.write("", e.user, "resync", "")
		e.heard = append(e.heard, h)
		return
	}
	if e.ids[h.id] {
		l.world.t.Errorf("%s: user %s was sent event %d (%s of %s) twice", l.world.topology.name, e.user, h.id, h.event, h.job)
		return
	}
	e.ids[h.id] = true
	e.heard = append(e.heard, h)
	if isTerminal(h.event) {
		if c := e.end(h.job); !isClosed(c) {
			close(c)
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
