package callback_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

// beforeRemoving calls f before the first commit that removes a field of the job's record.
type beforeRemoving struct {
	field string
	f     func()
	done  *atomic.Bool
}

func (beforeRemoving) DialHook(next redis.DialHook) redis.DialHook { return next }

func (beforeRemoving) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (b beforeRemoving) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := cmd.Args()
		removes := slices.Index(args, any("HDEL"))
		if removes >= 0 && slices.Contains(args[removes:], any(b.field)) && b.done.CompareAndSwap(false, true) {
			b.f()
		}
		return next(ctx, cmd)
	}
}

// deliveriesOfATurn are the callbacks whose answers deliver something. prepare makes it wait; field is the
// field of the record that is removed once it counts as received.
var deliveriesOfATurn = map[string]struct {
	field    string
	prepare  func(*server) *turn
	endpoint string
	payload  object
	// delivered is the part of the answer that shows it.
	delivered string
}{
	"the result of an action": {
		"knownRuns", func(s *server) *turn { return s.start("release") },
		"actions/look",
		object{"input": object{"at": "x"}},
		`"number":7`,
	},
	"a person's reply": {
		"questionId", func(s *server) *turn {
			turn := s.startJob("note", job.Options{Simulate: job.SimulateManual})
			turn.want(200, "checkpoints", colour)
			turn.reply(givenText("blue"))
			turn.take()
			return turn
		}, "checkpoints", colour, `"text":"blue"`,
	},
	"messages": {
		"offer", func(s *server) *turn {
			turn := s.start("note")
			must.Get(s.jobs.AppendMessage(s.t.Context(), "u1", "s1", job.Text(job.FromUser, "in blue"), new(lifecycle.Addressee)))(s.t)
			return turn
		}, "tool-calls", object{"hook_event_name": "PostToolBatch", "cwd": "/work", "tool_calls": []any{}}, "in blue",
	},
}

var colour = object{"type": "information_request", "message": "Which colour?"}

// callback returns a request with which Claude calls back.
func (s *turn) callback(ctx context.Context, endpoint string, payload object) *http.Request {
	body := bytes.NewReader(must.Get(json.Marshal(s.signed(payload)))(s.t))
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/claude/"+endpoint, body)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// over sends a callback on a connection of its own and returns the answer.
func (s *turn) over(web *httptest.Server, endpoint string, payload object) string {
	r := s.callback(s.t.Context(), endpoint, payload)
	r.URL, r.RequestURI, r.Close = must.Get(url.Parse(web.URL+r.URL.Path))(s.t), "", true
	answer := must.Get(web.Client().Do(r))(s.t)
	defer answer.Body.Close()
	return string(must.Get(io.ReadAll(answer.Body))(s.t))
}

// A server may be killed at any moment: what counts as received has arrived.
func TestWhatCountsAsReceivedHasArrived(t *testing.T) {
	t.Parallel()
	for name, row := range deliveriesOfATurn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := row.prepare(startServer(t, callback.Options{}))
			arrived, recorded := make(chan struct{}), make(chan struct{})
			turn.redis.AddHook(beforeRemoving{row.field, func() {
				defer close(recorded)
				select {
				case <-arrived:
				case <-time.After(10 * time.Second):
					t.Error("it counted as received before it had arrived")
				}
			}, new(atomic.Bool)})
			web := httptest.NewServer(turn.http)
			defer web.Close()
			text := turn.over(web, row.endpoint, row.payload)
			close(arrived)
			must.Contain(t, text, row.delivered)
			select {
			case <-recorded:
			case <-time.After(10 * time.Second):
				t.Error("it never counts as received")
			}
		})
	}
}

// unsent is a connection that takes an answer and breaks before it is sent.
type unsent struct{ *httptest.ResponseRecorder }

func (unsent) FlushError() error { return errors.New("the connection is lost") }

// An answer that does not leave the server is given again, and nothing is done twice.
func TestWhatHasNotArrivedIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	for name, row := range deliveriesOfATurn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := row.prepare(startServer(t, callback.Options{}))
			for _, broken := range []http.ResponseWriter{lost{httptest.NewRecorder()}, unsent{httptest.NewRecorder()}} {
				turn.http.ServeHTTP(broken, turn.callback(t.Context(), row.endpoint, row.payload))
			}
			a := turn.want(200, row.endpoint, row.payload)
			must.Contain(t, string(job.MustJSON(a.Body)), row.delivered)
			if ran := turn.ran.Load(); ran > 1 {
				t.Errorf("the action ran %d times", ran)
			}
		})
	}
}

// hungUp is a connection whose client hangs up as soon as it has the answer, as curl does.
type hungUp struct {
	*httptest.ResponseRecorder
	hangUp context.CancelFunc
}

func (h hungUp) FlushError() error {
	h.hangUp()
	return nil
}

func TestWhoHangsUpAfterTheAnswerHasReceivedIt(t *testing.T) {
	t.Parallel()
	for name, row := range deliveriesOfATurn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := row.prepare(startServer(t, callback.Options{}))
			recorded := new(atomic.Bool)
			turn.redis.AddHook(beforeRemoving{row.field, func() {}, recorded})
			ctx, hangUp := context.WithCancel(t.Context())
			turn.http.ServeHTTP(hungUp{httptest.NewRecorder(), hangUp}, turn.callback(ctx, row.endpoint, row.payload))
			must.Equal(t, true, recorded.Load(), "it counts as received")
		})
	}
}

// Claude may make the same call again as soon as it has the answer: that is another one.
func TestACallThatComesAtOnceIsAnotherOne(t *testing.T) {
	t.Parallel()
	row := deliveriesOfATurn["the result of an action"]
	turn := row.prepare(startServer(t, callback.Options{}))
	again := make(chan struct{})
	turn.redis.AddHook(beforeRemoving{row.field, func() { <-again }, new(atomic.Bool)})
	var arrived atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if arrived.Add(1) == 2 {
			close(again)
		}
		turn.http.ServeHTTP(w, r)
	}))
	defer web.Close()
	for range 2 {
		must.Contain(t, turn.over(web, row.endpoint, row.payload), row.delivered)
	}
	must.Equal(t, 2, turn.ran.Load(), "runs")
}
