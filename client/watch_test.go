package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/client"
	"ringback/internal/job"
	"ringback/test/must"
)

// wsServer is a server with a script for each connection: the frames to send before the connection
// is lost.
type wsServer struct {
	*httptest.Server
	mu      sync.Mutex
	scripts [][]string
	asked   []string
}

func newWS(t *testing.T, scripts ...[]string) *wsServer {
	t.Helper()
	s := &wsServer{scripts: scripts}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *wsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RequestURI())
	var frames []string
	last := len(s.scripts) <= 1
	if len(s.scripts) > 0 {
		frames, s.scripts = s.scripts[0], s.scripts[1:]
	}
	s.mu.Unlock()
	if len(frames) == 1 && frames[0][0] == '!' { // a response that does not upgrade to WebSocket
		var status int
		_, _ = fmt.Sscanf(frames[0], "!%d", &status)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"error":"Refused"}`))
		return
	}
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for _, frame := range frames {
		_ = conn.WriteMessage(websocket.TextMessage, []byte(frame))
	}
	if last {
		_, _, _ = conn.ReadMessage() // until the client disconnects
		return
	}
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4008, "too slow"), time.Now().Add(time.Second))
}

func (s *wsServer) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func event(id int, at time.Time) string {
	return fmt.Sprintf(`{"id":"%d","event":"k:activity","requestId":"r1","userId":"u1","time":%q,"data":{"n":%d}}`, id, at.Format(time.RFC3339Nano), id)
}

// watch collects the ids of the first count events.
func watch(t *testing.T, s *wsServer, w client.Watch, count int) []job.Seq {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var ids []job.Seq
	for e, err := range client.New(s.URL).Watch(ctx, w) {
		must.OK(t, err)
		if ids = append(ids, e.ID); len(ids) == count {
			return ids
		}
	}
	t.Fatalf("ended after %v", ids)
	return nil
}

func TestWatchEndsWhereConnectingAgainIsOfNoUse(t *testing.T) {
	t.Parallel()
	for code, kind := range map[int]job.ErrorKind{4400: job.Invalid, 4401: job.Unauthorized, 4403: job.Forbidden} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
				if err != nil {
					return
				}
				defer conn.Close()
				_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "for a reason"), time.Now().Add(time.Second))
				_, _, _ = conn.ReadMessage()
			}))
			t.Cleanup(s.Close)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var e *job.Error
			for _, err := range client.New(s.URL).Watch(ctx, client.Watch{UserID: "u1", Patient: true}) {
				if !errors.As(err, &e) {
					t.Fatalf("ended with %v", err)
				}
			}
			if e == nil || e.Kind != kind || e.Message != "for a reason" {
				t.Errorf("close code %d ended it with %v", code, e)
			}
		})
	}
}

func TestWatchGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newWS(t,
		[]string{event(101, now), event(102, now)},
		[]string{"!503"},
		[]string{event(102, now), event(103, now)}, // a repeated event is dropped
		[]string{`{"type":"pong"}`, `not JSON`, event(104, now)},
	)
	var away int
	since := job.Seq(100)
	ids := watch(t, s, client.Watch{UserID: "u 1", RequestID: "r1", Since: &since, AwayFunc: func(error) { away++ }}, 4)
	must.Equal(t, []job.Seq{101, 102, 103, 104}, ids)
	want := []string{
		"/ws?requestId=r1&since=100&userId=u+1", "/ws?requestId=r1&since=102&userId=u+1",
		"/ws?requestId=r1&since=102&userId=u+1", "/ws?requestId=r1&since=103&userId=u+1",
	}
	must.Equal(t, want, s.questions())
	must.Equal(t, 2, away, "told … times that the server is away, want once each time it went")
}

func TestWatchOfNewEventsLosesNone(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newWS(t,
		nil, // cut off before the first event
		[]string{`{"event":"resync"}`, event(7, now.Add(-time.Hour)), event(8, now.Add(time.Minute))},
	)
	ids := watch(t, s, client.Watch{UserID: "u1"}, 1)
	must.Equal(t, []job.Seq{8}, ids)
	must.Equal(t, []string{"/ws?userId=u1", "/ws?since=0&userId=u1"}, s.questions())
}

func TestWatchTellsOfForgottenEvents(t *testing.T) {
	t.Parallel()
	s := newWS(t, []string{`{"event":"resync"}`})
	for e, err := range client.New(s.URL).Watch(t.Context(), client.Watch{Since: new(job.Seq)}) {
		if err != nil || e.Name != client.Resync || string(e.JSON) != `{"event":"resync"}` {
			t.Errorf("got %v, %v", e, err)
		}
		break
	}
}

func TestWatchSendsTheToken(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization") + r.URL.Query().Get("token")
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	for range client.New(server.URL, client.WithToken("t0ken")).Watch(t.Context(), client.Watch{}) {
	}
	must.Equal(t, "Bearer t0ken", <-got, "sent")
}

func TestWatchGivesUpWhen(t *testing.T) {
	t.Parallel()
	now := time.Now()
	refusing := newWS(t, []string{"!403"}, nil)
	refusingLater := newWS(t, []string{event(1, now)}, []string{"!401"}, nil)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hi")) }))
	t.Cleanup(page.Close)
	for _, c := range []struct {
		name, url string
		want      job.ErrorKind
	}{
		{"nothing listens", nobody, job.Unavailable},
		{"refused", refusing.URL, job.Forbidden},
		{"something else answers", page.URL, job.Internal},
		{"refused later", refusingLater.URL, job.Unauthorized},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var last error
			for _, err := range client.New(c.url).Watch(t.Context(), client.Watch{}) {
				last = err
			}
			var e *job.Error
			if !errors.As(last, &e) || e.Kind != c.want {
				t.Errorf("ended with %v, want %s", last, c.want)
			}
		})
	}
}

func TestPatientWatchWaitsForTheServer(t *testing.T) {
	t.Parallel()
	s := newWS(t, []string{"!503"}, []string{"!502"}, []string{event(1, time.Now())})
	must.Equal(t, 1, watch(t, s, client.Watch{Patient: true}, 1)[0])
}

func TestWatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newWS(t, []string{event(1, time.Now())})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range client.New(s.URL).Watch(ctx, client.Watch{}) {
		must.OK(t, err)
		cancel() // while it listens
	}
}

// After the store has gone back, all later events are new, whatever their ids, and the next
// connection continues from them.
func TestWatchGoesOnBehindAResync(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const resync = `{"event":"resync"}`
	for name, c := range map[string]struct {
		scripts [][]string
		since   *job.Seq
		want    []job.Seq
		asked   string
	}{
		"connected":               {[][]string{{event(10, now), resync, event(12, now), event(12, now)}, {event(13, now)}}, new(job.Seq), []job.Seq{10, 0, 12, 13}, "/ws?since=12&userId=u1"},
		"its clock is behind":     {[][]string{{event(10, now), resync, event(7, now), event(7, now)}, {event(8, now)}}, new(job.Seq), []job.Seq{10, 0, 7, 8}, "/ws?since=7&userId=u1"},
		"connecting again":        {[][]string{{event(10, now)}, {resync, event(7, now)}, {event(8, now)}}, new(job.Seq), []job.Seq{10, 0, 7, 8}, "/ws?since=7&userId=u1"},
		"nothing new before that": {[][]string{{event(10, now), resync}, {resync, event(11, now)}}, new(job.Seq), []job.Seq{10, 0, 0, 11}, "/ws?since=10&userId=u1"},
		"only new ones":           {[][]string{{event(10, now), resync}, {event(12, now)}}, nil, []job.Seq{10, 0, 12}, "/ws?since=10&userId=u1"},
		"nothing was heard":       {[][]string{{}, {resync, event(12, now)}}, nil, []job.Seq{12}, "/ws?since=0&userId=u1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWS(t, c.scripts...)
			got := watch(t, s, client.Watch{UserID: "u1", Since: c.since, Patient: true}, len(c.want))
			must.Equal(t, c.want, got)
			if asked := s.questions(); asked[len(asked)-1] != c.asked {
				t.Errorf("asked %v", asked)
			}
		})
	}
}
