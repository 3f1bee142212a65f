package simulated_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/schema"
	"ringback/internal/turn/claude"
	"ringback/internal/turn/claude/simulated"
	"ringback/test/must"
)

type object = map[string]any

const (
	requestID    = "req_3_abc"
	signature    = "5ae1f0cafe"
	conversation = "7c1c2a9e-31a5-4a4e-9c39-3a3f0b0f5d11"
)

// call is a callback that arrived.
type call struct {
	Endpoint string
	Agent    string
	Body     object
}

// callbacks is a server with the callback endpoints.
type callbacks struct {
	*httptest.Server
	kind *kind.Kind
	mu   sync.Mutex
	got  []call
}

func newCallbacks(t *testing.T, k *kind.Kind) *callbacks {
	t.Helper()
	c := &callbacks{kind: k}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *callbacks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body object
	text, err := io.ReadAll(r.Body)
	err = errors.Join(err, job.UnmarshalExact(text, &body))
	endpoint := strings.TrimPrefix(r.URL.Path, "/api/claude/")
	c.mu.Lock()
	c.got = append(c.got, call{endpoint, r.UserAgent(), body})
	c.mu.Unlock()
	status, answer := http.StatusOK, any(object{"success": true})
	switch {
	case err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json":
		status, answer = http.StatusBadRequest, job.Errorf(job.Invalid, "Malformed JSON")
	case body["requestId"] != requestID:
		status, answer = http.StatusNotFound, job.Errorf(job.NotFound, "Unknown request")
	case body["hmac"] != signature:
		status, answer = http.StatusForbidden, job.Errorf(job.Forbidden, "Invalid signature")
	case endpoint == "suggestions" || endpoint == "result":
		status, answer = c.judge(body)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (c *callbacks) judge(body object) (int, any) {
	if details := c.kind.Result.Validate(resultOf(body)); details != nil {
		e := job.Errorf(job.Invalid, "Invalid payload")
		e.Details = details
		return http.StatusBadRequest, e
	}
	return http.StatusOK, object{"success": true, "received": 1}
}

func resultOf(body object) object {
	result := maps.Clone(body)
	delete(result, "requestId")
	delete(result, "hmac")
	return result
}

func (c *callbacks) calls() []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got
}

func (c *callbacks) endpoints() []string {
	var all []string
	for _, got := range c.calls() {
		all = append(all, got.Endpoint)
	}
	return all
}

func builtin(t *testing.T, name string) *kind.Kind {
	t.Helper()
	kinds, problems := kind.Load(kind.Builtin())
	must.OK(t, schema.Join(problems))
	k, _ := kinds.Get(name)
	return k
}

func promptFor(k *kind.Kind, baseURL, input string) claude.Prompt {
	return claude.Prompt{
		Kind: k, Input: json.RawMessage(input),
		Callback: claude.Callback{RequestID: requestID, BaseURL: baseURL, Signature: signature},
	}
}

// first describes the first turn of a job.
func first(t *testing.T, p claude.Prompt) string {
	t.Helper()
	text := must.Get(p.First())(t)
	turn := must.Get(json.Marshal(simulated.NewTurn(conversation, p, text)))(t)
	return string(turn)
}

// turn is the output of a run.
type turn struct {
	code   int
	lines  []object
	raw    string
	stderr string
	dir    string
}

func (r turn) last() object { return r.lines[len(r.lines)-1] }

func run(t *testing.T, o simulated.Options, stdin string) turn {
	t.Helper()
	return runIn(t.Context(), t, o, stdin)
}

func runIn(ctx context.Context, t *testing.T, o simulated.Options, stdin string, also ...io.Writer) turn {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.Stdin, o.Stdout, o.Stderr = strings.NewReader(stdin), io.MultiWriter(append(also, &stdout)...), &stderr
	r := turn{code: simulated.Run(ctx, o), raw: stdout.String(), stderr: stderr.String(), dir: o.Dir}
	dec := json.NewDecoder(&stdout)
	for {
		var line object
		if err := dec.Decode(&line); err == io.EOF {
			return r
		} else if err != nil {
			t.Fatalf("the stream is not JSON lines: %v\n%s", err, r.raw)
		}
		r.lines = append(r.lines, line)
	}
}

// runSilent runs a turn that never ends by itself, and cancels it after its first output.
func runSilent(t *testing.T, o simulated.Options, stdin string) turn {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	o.Behaviour = job.SimulateSilence
	return runIn(ctx, t, o, stdin, whenSaid{"nothing to say", end})
}

// whenSaid calls a function once a text is printed.
type whenSaid struct {
	text string
	do   func()
}

func (w whenSaid) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(w.text)) {
		w.do()
	}
	return len(b), nil
}

const week = `{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}`

// play runs a turn that calls back with curl.
func play(t *testing.T, behaviour job.Simulation) (turn, *callbacks) {
	t.Helper()
	needCurl(t)
	server := newCallbacks(t, builtin(t, "meal-suggestions"))
	return run(t, simulated.Options{Behaviour: behaviour}, first(t, promptFor(server.kind, server.URL, week))), server
}

func needCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("curl is not installed")
		}
		t.Skip("curl is not installed")
	}
}

func TestSuccessCallsBackWithCurl(t *testing.T) {
	t.Parallel()
	r, server := play(t, job.SimulateSuccess)
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.raw)
	}
	must.Equal(t, []string{"progress", "progress", "progress", "suggestions"}, server.endpoints())
	var phases []any
	progress := -1.0
	for _, c := range server.calls() {
		if !strings.HasPrefix(c.Agent, "curl/") {
			t.Errorf("%s was sent by %q, not by curl", c.Endpoint, c.Agent)
		}
		if c.Endpoint != "progress" {
			continue
		}
		now, err := c.Body["progress"].(json.Number).Float64()
		if err != nil || now <= progress {
			t.Errorf("progress went from %v to %v", progress, c.Body["progress"])
		}
		progress = now
		phases = append(phases, c.Body["type"])
	}
	must.Equal(t, []any{"thinking", "querying", "results"}, phases)
	for _, name := range []string{"progress.json", "result.json"} {
		info, err := os.Stat(filepath.Join(r.dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestStreamLooksLikeTheRealOne(t *testing.T) {
	t.Parallel()
	r, server := play(t, job.SimulateNone)
	text := must.Get(promptFor(server.kind, server.URL, week).First())(t)

	start := r.lines[0]
	if start["type"] != "system" || start["subtype"] != "init" || start["session_id"] != conversation {
		t.Errorf("the stream begins with %v", start)
	}
	end := r.last()
	if end["type"] != "result" || end["subtype"] != "success" || end["is_error"] != false || end["total_cost_usd"] != 0.0 {
		t.Errorf("the stream ends with %v", end)
	}
	if end["usage"].(object)["input_tokens"].(float64) <= 0 {
		t.Errorf("no usage: %v", end)
	}

	uses, results, texts := map[any]object{}, map[any]object{}, 0
	for _, line := range r.lines[1 : len(r.lines)-1] {
		block := line["message"].(object)["content"].([]any)[0].(object)
		switch block["type"] {
		case "text":
			texts++
		case "tool_use":
			uses[block["id"]] = block
		case "tool_result":
			results[block["tool_use_id"]] = block
		}
	}
	if texts == 0 || len(uses) != 8 || len(results) != len(uses) {
		t.Errorf("%d texts, %d tool uses and %d results, want some, 8 and 8", texts, len(uses), len(results))
	}
	for id, use := range uses {
		if results[id] == nil {
			t.Errorf("tool use %v has no result", id)
		}
		if use["name"] == "Bash" {
			must.Contain(t, text, "\n"+use["input"].(object)["command"].(string)+"\n", "the prompt")
		}
	}
	must.NotContain(t, r.raw, signature, "the stream")
}

func TestRepairReadsTheRefusal(t *testing.T) {
	t.Parallel()
	r, server := play(t, job.SimulateRepair)
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.raw)
	}
	calls := server.calls()
	if len(calls) != 5 {
		t.Fatalf("called %v", server.endpoints())
	}
	if server.kind.Result.Validate(resultOf(calls[3].Body)) == nil {
		t.Error("the first result was valid already")
	}
	must.Equal(t, nil, server.kind.Result.Validate(resultOf(calls[4].Body)), "the second result")
	must.Contain(t, r.raw, "Invalid payload; /reasoning", "the stream")
}

func TestFailureSaysSo(t *testing.T) {
	t.Parallel()
	r, server := play(t, job.SimulateFailure)
	if r.code != 0 || len(server.calls()) != 1 {
		t.Fatalf("exit code %d, calls %v", r.code, server.endpoints())
	}
	c := server.calls()[0]
	if c.Endpoint != "failure" || c.Body["error"] == "" || c.Body["retryable"] != false {
		t.Errorf("called %v", c)
	}
}

func TestSilenceNeverCalls(t *testing.T) {
	t.Parallel()
	k := builtin(t, "meal-suggestions")
	server := newCallbacks(t, k)
	for _, structured := range []bool{false, true} {
		p := promptFor(k, server.URL, week)
		p.Structured = structured
		r := runSilent(t, simulated.Options{}, first(t, p))
		if r.code != 143 || len(server.calls()) != 0 || r.last()["type"] == "result" {
			t.Errorf("exit code %d, calls %v, last %v", r.code, server.endpoints(), r.last())
		}
	}
}

func TestStructuredOutput(t *testing.T) {
	t.Parallel()
	k := builtin(t, "meal-suggestions")
	server := newCallbacks(t, k)
	p := promptFor(k, server.URL, week)
	p.Structured = true
	for _, c := range []struct {
		behaviour job.Simulation
		code      int
		output    bool
	}{
		{job.SimulateSuccess, 0, true},
		{job.SimulateRepair, 0, true},
		{job.SimulateFailure, 1, false},
	} {
		t.Run(string(c.behaviour), func(t *testing.T) {
			t.Parallel()
			r := run(t, simulated.Options{Behaviour: c.behaviour}, first(t, p))
			output, present := r.last()["structured_output"].(object)
			if r.code != c.code || present != c.output {
				t.Fatalf("exit code %d, output %v", r.code, r.last())
			}
			if present && k.Result.Validate(numbered(t, output)) != nil {
				t.Errorf("invalid: %v", k.Result.Validate(numbered(t, output)))
			}
			must.Equal(t, nil, server.endpoints())
		})
	}
}

// numbered decodes a value the way the server does, with numbers as written.
func numbered(t *testing.T, v any) object {
	t.Helper()
	var o object
	must.OK(t, job.UnmarshalExact(must.Get(json.Marshal(v))(t), &o))
	return o
}

func TestRefusesToStart(t *testing.T) {
	t.Parallel()
	k := builtin(t, "meal-suggestions")
	p := promptFor(k, "http://127.0.0.1:1", week)
	for _, c := range []struct {
		name  string
		opts  simulated.Options
		stdin string
		says  string
	}{
		{"unknown behaviour", simulated.Options{Behaviour: "sucess"}, first(t, p), "expected success, repair, failure, silence or manual"},
		{"nothing", simulated.Options{}, "", "does not describe a turn"},
		{"a prompt", simulated.Options{}, "Suggest meals.", "does not describe a turn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, c.opts, c.stdin)
			if r.code != 1 || !strings.Contains(r.stderr, c.says) || len(r.lines) != 0 {
				t.Errorf("exit code %d, says %q, stream %s", r.code, r.stderr, r.raw)
			}
		})
	}
}

func TestARefusedResultIsAnError(t *testing.T) {
	t.Parallel()
	needCurl(t)
	k := builtin(t, "meal-suggestions")
	stranger := promptFor(k, newCallbacks(t, k).URL, week)
	stranger.Callback.RequestID = "req_unknown"
	r := run(t, simulated.Options{}, first(t, stranger))
	said, _ := r.last()["result"].(string)
	if r.code != 1 || r.last()["is_error"] != true || !strings.Contains(said, "Unknown request") {
		t.Errorf("exit code %d, last line %v", r.code, r.last())
	}
}

func TestStopsWhenToldTo(t *testing.T) {
	t.Parallel()
	k := builtin(t, "meal-suggestions")
	server := newCallbacks(t, k)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := runIn(ctx, t, simulated.Options{Pace: 1 << 40}, first(t, promptFor(k, server.URL, week)))
	if r.code != 143 || len(server.calls()) != 0 {
		t.Errorf("exit code %d, calls %v", r.code, server.endpoints())
	}
}

func TestOtherKinds(t *testing.T) {
	t.Parallel()
	needCurl(t)
	k, err := schema.New("release.result.json", []byte(`{
		"type": "object", "required": ["version", "notes"], "additionalProperties": false,
		"properties": {"version": {"type": "string", "pattern": "^v[0-9]+\\.[0-9]+$"}, "notes": {"type": "array", "minItems": 2, "items": {"type": "string"}}}}`))
	must.OK(t, err)
	release := &kind.Kind{Name: "release", Prompt: builtin(t, "meal-suggestions").Prompt, Input: k, Result: k}
	server := newCallbacks(t, release)
	for _, behaviour := range []job.Simulation{job.SimulateSuccess, job.SimulateRepair} {
		r := run(t, simulated.Options{Behaviour: behaviour}, first(t, promptFor(release, server.URL, `{"since": "JSON Schema"}`)))
		if r.code != 0 {
			t.Fatalf("exit code %d: %s", r.code, r.raw)
		}
	}
	calls := server.calls()
	last := calls[len(calls)-1]
	want := object{"requestId": requestID, "hmac": signature, "version": "v0.0", "notes": []any{"simulated", "simulated"}}
	must.Equal(t, call{"result", last.Agent, want}, last)
	must.Equal(t, 9, len(calls), "calls:", server.endpoints())
}

// TestWithoutCurl changes PATH, so it cannot run in parallel with the others.
func TestWithoutCurl(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	k := builtin(t, "meal-suggestions")
	server := newCallbacks(t, k)
	r := run(t, simulated.Options{}, first(t, promptFor(k, server.URL, week)))
	if r.code != 0 || len(server.calls()) != 4 {
		t.Fatalf("exit code %d, calls %v: %s", r.code, server.endpoints(), r.raw)
	}
	must.Contain(t, r.raw, "curl is not installed", "the stream")
}

// menu runs a turn for an input and returns its valid result.
func menu(t *testing.T, k *kind.Kind, input string) object {
	t.Helper()
	p := claude.Prompt{Kind: k, Input: []byte(input), Structured: true}
	r := run(t, simulated.Options{Behaviour: job.SimulateSuccess}, first(t, p))
	output, _ := r.last()["structured_output"].(object)
	if details := k.Result.Validate(numbered(t, output)); details != nil {
		t.Fatalf("the menu is invalid: %v", details)
	}
	return output
}

// meals returns the dates and meals of a menu.
func meals(menu object) []string {
	var list []string
	for _, s := range menu["suggestions"].([]any) {
		list = append(list, fmt.Sprint(s.(object)["date"], " ", s.(object)["mealType"]))
	}
	return list
}

func TestMenuFollowsTheRequest(t *testing.T) {
	t.Parallel()
	k := builtin(t, "meal-suggestions")
	for _, c := range []struct {
		name, input string
		want        []string
	}{
		{
			"a dinner a day", `{"dateRangeStart": "2026-03-30", "dateRangeEnd": "2026-04-01"}`,
			[]string{"2026-03-30 dinner", "2026-03-31 dinner", "2026-04-01 dinner"},
		},
		{
			"several meals", `{"dateRangeStart": "2026-03-30", "dateRangeEnd": "2026-03-31", "mealTypes": ["breakfast", "snack"]}`,
			[]string{"2026-03-30 breakfast", "2026-03-30 snack", "2026-03-31 breakfast", "2026-03-31 snack"},
		},
		{
			"fewer than days, spread evenly", `{"dateRangeStart": "2026-03-01", "dateRangeEnd": "2026-03-06", "visibleCount": 3}`,
			[]string{"2026-03-01 dinner", "2026-03-03 dinner", "2026-03-05 dinner"},
		},
		{
			"more than days", `{"dateRangeStart": "2026-03-01", "dateRangeEnd": "2026-03-02", "visibleCount": 4}`,
			[]string{"2026-03-01 dinner", "2026-03-01 dinner", "2026-03-02 dinner", "2026-03-02 dinner"},
		},
		{"dates the wrong way round", `{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-01"}`, []string{"2026-03-02 dinner"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, c.want, meals(menu(t, k, c.input)))
		})
	}
	t.Run("a week at most", func(t *testing.T) {
		t.Parallel()
		must.Equal(t, 7, len(meals(menu(t, k, `{"dateRangeStart": "2026-03-01", "dateRangeEnd": "2028-03-01"}`))), "suggestions")
	})
}

func TestMenuIsVariedAndComplete(t *testing.T) {
	t.Parallel()
	k := builtin(t, "meal-suggestions")
	m := menu(t, k, `{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-13", "visibleCount": 12}`)
	seen := map[any]bool{}
	for _, s := range m["suggestions"].([]any) {
		r := s.(object)["recipe"].(object)
		seen[r["name"]] = true
		for _, field := range []string{"description", "source", "difficulty", "servings", "prepMinutes", "cookMinutes", "tags", "nutrition"} {
			if r[field] == nil {
				t.Errorf("%v has no %s", r["name"], field)
			}
		}
		if len(r["ingredients"].([]any)) < 4 || len(r["steps"].([]any)) < 2 {
			t.Errorf("one cannot cook %v from this", r["name"])
		}
	}
	must.Equal(t, 12, len(seen), "different dishes")
}
