package callback_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

// Each step reports what it refuses; if several things are wrong, the first step that
// finds one reports it.
func TestInWhichOrderACallbackIsChecked(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	turn := s.start("note")
	other := s.start("note")
	const wrong = "0000000000000000000000000000000000000000000000000000000000000000"
	unknown := string(turn.id[:len(turn.id)-4]) + "zzzz"
	for name, row := range map[string]struct {
		body   object
		status int
		// says is the error message, at the path of the first detail.
		says, at string
	}{
		"in order it is taken":                   {object{"requestId": turn.id, "hmac": turn.signature, "title": "x"}, 200, "", ""},
		"without a request":                      {object{"hmac": turn.signature}, 400, "Invalid payload", "/requestId"},
		"a request that is no text":              {object{"requestId": 5, "hmac": turn.signature}, 400, "Invalid payload", "/requestId"},
		"an empty request":                       {object{"requestId": "", "hmac": turn.signature}, 400, "Invalid payload", "/requestId"},
		"without a signature":                    {object{"requestId": turn.id, "title": "x"}, 400, "Invalid payload", "/hmac"},
		"a signature that is no text":            {object{"requestId": turn.id, "hmac": []any{}}, 400, "Invalid payload", "/hmac"},
		"an envelope before the request":         {object{"requestId": unknown}, 400, "Invalid payload", "/hmac"},
		"a request that nobody has made":         {object{"requestId": unknown, "hmac": turn.signature}, 404, "Unknown or expired request", ""},
		"a request that is none":                 {object{"requestId": "x", "hmac": turn.signature}, 404, "Unknown or expired request", ""},
		"the request before the payload":         {object{"requestId": unknown, "hmac": turn.signature, "title": 5}, 404, "Unknown or expired request", ""},
		"a wrong signature":                      {object{"requestId": turn.id, "hmac": wrong, "title": "x"}, 403, "Invalid signature", ""},
		"the signature of another request":       {object{"requestId": turn.id, "hmac": other.signature, "title": "x"}, 403, "Invalid signature", ""},
		"the signature before the payload":       {object{"requestId": turn.id, "hmac": wrong, "title": 5}, 403, "Invalid signature", ""},
		"a payload that does not fit its schema": {object{"requestId": turn.id, "hmac": turn.signature, "title": 5}, 400, "Invalid payload", "/title"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.post("/api/claude/result", row.body)
			if a.Status != row.status || a.text("error") != row.says {
				t.Fatalf("answered %d %v, want %d %s", a.Status, a.Body, row.status, row.says)
			}
			if _, found := a.details()[row.at]; row.at != "" && !found {
				t.Errorf("the details are %v, want one at %s", a.details(), row.at)
			}
			if row.status >= 400 && a.text("hint") == "" && a.details() == nil {
				t.Error("nothing says what to do")
			}
		})
	}
}

func TestBodiesThatAreNone(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{BodyLimit: 100})
	for name, row := range map[string]struct {
		contentType, body string
		status            int
	}{
		"text":          {"text/plain", "{}", 415},
		"a form":        {"application/x-www-form-urlencoded", "a=b", 415},
		"nothing":       {"application/json", "", 400},
		"a list":        {"application/json", "[]", 400},
		"two keys":      {"application/json", `{"requestId": "a", "requestId": "b"}`, 400},
		"too much":      {"application/json", `{"a": "` + strings.Repeat("a", 100) + `"}`, 413},
		"a charset too": {"application/json; charset=utf-8", `{"requestId": "x", "hmac": "x"}`, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.send(httptest.NewRecorder(), "/api/claude/result", row.contentType, []byte(row.body))
			if a.Status != row.status || a.text("error") == "" {
				t.Errorf("answered %d %v, want %d", a.Status, a.Body, row.status)
			}
			if row.status == 400 && !strings.Contains(a.text("hint"), "Correct the payload file") {
				t.Errorf("Claude is not told what to do: %q", a.text("hint"))
			}
		})
	}
}

func TestProgressMayGoUnsigned(t *testing.T) {
	t.Parallel()
	report := object{"message": "Reading"}
	for name, row := range map[string]struct {
		strict bool
		body   func(*turn) object
		status int
	}{
		"signed it is taken":                 {false, func(t *turn) object { return t.signed(report) }, 200},
		"unsigned it is taken":               {false, func(t *turn) object { return object{"requestId": t.id, "message": "Reading"} }, 200},
		"a signature that is there is right": {false, func(t *turn) object { return object{"requestId": t.id, "hmac": "x", "message": "Reading"} }, 403},
		"strictly, signed it is taken":       {true, func(t *turn) object { return t.signed(report) }, 200},
		"strictly, unsigned it is refused":   {true, func(t *turn) object { return object{"requestId": t.id, "message": "Reading"} }, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := startServer(t, callback.Options{Strict: row.strict}).start("note")
			for _, path := range []string{"/api/claude/progress", "/progress"} {
				must.Equal(t, row.status, turn.post(path, row.body(turn)).Status, path)
			}
		})
	}
}

// Any callback for a job that has ended gets the reason.
func TestLateCallbacksAreToldWhy(t *testing.T) {
	t.Parallel()
	for state, says := range map[job.State]string{
		job.Cancelled: "The job was cancelled.",
		job.Failed:    "The job has failed.",
		job.Expired:   "The job's deadline has passed.",
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			s := startServer(t, callback.Options{})
			known, unknown := s.start("note"), s.start("note")
			known.want(200, "progress", object{"message": "x"}) // it is in the cache now
			for _, turn := range []*turn{known, unknown} {
				turn.end(state)
				for endpoint, payload := range map[string]object{
					"result": {"title": "x"}, "progress": {"message": "x"}, "failure": {"error": "x"},
					"checkpoints": {"type": "information_request", "message": "x"},
				} {
					a := turn.call(endpoint, payload)
					if a.Status != 404 || !strings.HasPrefix(a.text("hint"), says) {
						t.Errorf("%s was answered %d %v", endpoint, a.Status, a.Body)
					}
				}
			}
			// A wrong payload gets the same answer: what can no longer be repaired is not
			// reported.
			known.want(404, "result", object{"title": 5})
		})
	}
}

// A retried job has a new secret: an earlier process cannot call back.
func TestWhatRanBeforeARetryCannotCallBack(t *testing.T) {
	t.Parallel()
	now := startServer(t, callback.Options{}).start("note")
	before := *now
	now.end(job.Failed)
	now.exit()
	must.OK(t, now.jobs.Retry(t.Context(), now.id))
	now.take()
	before.want(403, "result", object{"title": "x"})
	now.want(200, "result", object{"title": "x"})
}

// Each turn has its own secret: a process of the previous turn, on a node that was
// paused, changes nothing and is asked to stop. The handler has that turn's signature
// in its cache, as the node has.
func TestWhatRanInTheTurnBeforeIsToldToStop(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]struct {
		endpoint string
		payload  object
	}{
		"a result":                 {"result", object{"title": "stale"}},
		"suggestions":              {"suggestions", object{"title": "stale"}},
		"a payload that is wrong":  {"result", object{"title": 5}},
		"a failure":                {"failure", object{"error": "I cannot"}},
		"a failure to be retried":  {"failure", object{"error": "I cannot", "retryable": true}},
		"progress":                 {"progress", object{"message": "stale"}},
		"a question":               {"checkpoints", object{"type": "information_request", "message": "stale?"}},
		"the question of before":   {"checkpoints", object{"type": "information_request", "message": "Which?"}},
		"a call of a tool":         {"tool-calls", object{"tool_name": "Read", "tool_input": object{"file_path": "a"}, "tool_use_id": "t"}},
		"a call that is asked for": {"tool-calls", object{"tool_name": "Bash", "tool_input": object{"command": "make"}, "tool_use_id": "t"}},
		"a call that is allowed":   {"tool-calls", object{"tool_name": "Bash", "tool_input": object{"command": "ls x"}, "tool_use_id": "t"}},
		"a call that is denied":    {"tool-calls", object{"tool_name": "Bash", "tool_input": object{"command": "rm x"}, "tool_use_id": "t"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kindName := "note"
			if call.endpoint == "tool-calls" {
				kindName = "careful"
			}
			now := startServer(t, callback.Options{}).start(kindName)
			now.want(200, "progress", object{"message": "x"})
			now.want(200, "checkpoints", object{"type": "information_request", "message": "Which?"})
			before := *now
			now.reply(givenText("this one"))
			now.resume()
			must.Contain(t, before.want(403, call.endpoint, call.payload).text("hint"), "stop now")
			if j := now.job(); j.State != job.Running || j.Result != nil || j.Activity.Message != "x" {
				t.Errorf("the turn before has changed the job: %+v", j)
			}
			now.want(200, "progress", object{"message": "y"})
			before.want(403, call.endpoint, call.payload)
		})
	}
}

// The previous turn can change neither actions nor batches.
func TestActionsAndBatchesOfTheTurnBefore(t *testing.T) {
	t.Parallel()
	for kindName, call := range map[string]struct {
		endpoint string
		payload  object
	}{
		"release":          {"actions/look", object{"input": object{}}},
		"meal-suggestions": {"suggestions/batch", object{"batch": 1, "suggestions": meals(3)}},
	} {
		t.Run(kindName, func(t *testing.T) {
			t.Parallel()
			now := startServer(t, callback.Options{}).start(kindName)
			now.want(200, "checkpoints", object{"type": "information_request", "message": "Which?"})
			before := *now
			now.reply(givenText("this one"))
			now.resume()
			before.want(403, call.endpoint, call.payload)
			must.Equal(t, 0, now.ran.Load(), "runs")
			now.want(200, call.endpoint, call.payload)
		})
	}
}

func TestCallbacksThatComeTooFast(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{Rate: 3})
	one, other := s.start("note"), s.start("note")
	statuses := func(of *turn) (list []int) {
		for range 8 {
			list = append(list, of.call("progress", object{"message": "x"}).Status)
		}
		return list
	}
	first := statuses(one)
	if first[0] != 200 || first[7] != 429 {
		t.Errorf("eight at once were answered %v", first)
	}
	must.Equal(t, 200, statuses(other)[0], "another request is slowed down")
	// Wrong signatures cause the request to be read again, which must not raise the caller's
	// rate.
	wrong := *s.start("note")
	wrong.signature = "x"
	must.Equal(t, 429, statuses(&wrong)[7], "with wrong signatures")
}

// Strangers with a requestId slow down only themselves: the job's own callbacks are accepted, also those
// of its next turn, and also from the same address.
func TestStrangersDoNotUseUpAJobsRate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		strict bool
		hmac   any
		last   int
	}{
		"unsigned":                                  {false, nil, 429},
		"unsigned, if callbacks are strict":         {true, nil, 400},
		"with a made-up signature":                  {false, strings.Repeat("0", 64), 429},
		"with one, if they are strict":              {true, strings.Repeat("0", 64), 429},
		"with the signature of a turn that is over": {true, "old", 429},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, callback.Options{Rate: 3, Strict: c.strict})
			turn := s.start("note")
			before := turn.signature
			turn.want(200, "checkpoints", object{"type": "information_request", "message": "Which?"})
			turn.reply(givenText("this one"))
			turn.resume()
			body := object{"requestId": turn.id, "message": "x", "hmac": c.hmac}
			switch c.hmac {
			case nil:
				delete(body, "hmac")
			case "old":
				body["hmac"] = before
			}
			last := 0
			for range 12 {
				last = s.from(t, "203.0.113.9:1", body)
			}
			must.Equal(t, c.last, last, "the stranger's last call")
			for range 2 { // it may make three at once, and has asked before
				must.Equal(t, 200, s.from(t, "203.0.113.9:1", turn.signed(object{"message": "x"})), "the job's own call")
			}
		})
	}
}

// from posts a progress report from an address, and returns the status of the answer.
func (s *server) from(t *testing.T, address string, body object) int {
	t.Helper()
	text := must.Get(json.Marshal(body))(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/claude/progress", bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = address
	out := httptest.NewRecorder()
	s.http.ServeHTTP(out, r)
	return out.Code
}

// A caller that makes up requestIds does not slow down other addresses: a job's first
// callback, which is not in the cache yet, is accepted anyway.
func TestMadeUpRequestsSlowOnlyTheirOwnAddressDown(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{Rate: 3})
	first := s.start("note")
	slowed := false
	for range 30 {
		slowed = s.from(t, "203.0.113.9:1", object{"requestId": "req_00_made_up", "hmac": "x", "message": "x"}) == 429 || slowed
	}
	must.Equal(t, true, slowed, "the flood was slowed down")
	must.Equal(t, 200, s.from(t, "192.0.2.7:1", first.signed(object{"message": "x"})), "a real job's first callback was answered")
}

// Success bodies are exactly those in docs/api.md.
func TestWhatCallbacksAreAnswered(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	for name, row := range map[string]struct {
		kind, endpoint string
		payload        object
		want           string
	}{
		"progress":    {"note", "progress", object{"message": "x", "type": "thinking", "progress": 5}, `{"success":true}`},
		"nulls":       {"note", "progress", object{"message": "x", "type": nil, "progress": nil}, `{"success":true}`},
		"a failure":   {"note", "failure", object{"error": "I cannot"}, `{"success":true}`},
		"a result":    {"note", "result", object{"title": "x"}, `{"success":true}`},
		"suggestions": {"meal-suggestions", "suggestions", object{"suggestions": meals(2), "reasoning": "x"}, `{"received":2,"success":true}`},
		"a batch":     {"meal-suggestions", "suggestions/batch", object{"batch": 1, "suggestions": meals(3)}, `{"received":3,"success":true,"total":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			turn := s.start(row.kind)
			for range 2 { // a repeated call gets the same answer
				a := turn.want(200, row.endpoint, row.payload)
				must.Equal(t, row.want, string(must.Get(json.Marshal(a.Body))(t)))
			}
		})
	}
}
