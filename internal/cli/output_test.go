package cli_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/gorilla/websocket"
	"github.com/spf13/cobra"

	"ringback/internal/cli"
	"ringback/test/must"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files in testdata")

// stub is a server that responds as the API does.
type stub struct {
	*httptest.Server
	mu sync.Mutex
	// answers are the bodies by method and path, with a specific query or for any. A number and a
	// space before the body is the status.
	answers map[string]string
	events  []string
	// lists are the successive responses of GET /api/jobs.
	lists []string
	// records are the first responses of GET of the job, in turn.
	records []string
	// after are the events that follow a request, such as "POST /api/jobs". refusals are the errors
	// that a request gets the first time.
	after    map[string][]string
	refusals map[string]string
	asked    []string
	bodies   map[string]string
	tokens   []string
}

// replies is the request that replies to the question.
const replies = "POST /api/checkpoints/chk_03_questionsquestionsquestion/reply"

// otherID is the full id of another job.
const otherID = "req_02_otherotherotherotherothero"

// What the server answers, from testdata/api.
var (
	received, running, expired, underReview = fixture("received.json"), fixture("running.json"), fixture("expired.json"), fixture("under_review.json")
	question, chat, auditLog                = fixture("question.json"), fixture("chat.json"), fixture("audit.jsonl")
	diffs, logs, kindOfNote                 = fixture("diffs.json"), fixture("logs.json"), fixture("kind_note.json")
	// waiting is running, at the question.
	waiting = strings.NewReplacer(
		`"meal-suggestions"`, `"media"`, `"running"`, `"awaiting_input"`, `"activity":{"message":"Browsing","type":"querying","progress":40}`, `"checkpoint":`+question,
		`10:00:01Z","deadline":"2026-03-01T10:05:00Z"`, `10:00:02Z"`,
	).Replace(running)
	listed = `{"jobs":[` + received + `,` + running + `],"nextCursor":"MTIz"}`
)

const notFound = `404 {"error":"Unknown job","hint":"ringback list shows the known ones."}`

// fixture returns a file of testdata/api, and JSON without its white space.
func fixture(name string) string {
	text, err := os.ReadFile(filepath.Join("testdata", "api", name))
	var compact bytes.Buffer
	if err == nil && strings.HasSuffix(name, ".json") {
		err = json.Compact(&compact, text)
		text = compact.Bytes()
	}
	if err != nil {
		panic(err)
	}
	return string(text)
}

func newStub(t *testing.T) *stub {
	t.Helper()
	f := &stub{
		bodies: map[string]string{},
		answers: map[string]string{
			"POST /api/jobs": `202 {"requestId":"req_01_abcdefghijklmnopqrstuvwxyz","sessionId":"s1","status":"pending"}`,
			"GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz":            received,
			"POST /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/cancel":    `{"requestId":"req_01_abcdefghijklmnopqrstuvwxyz","status":"cancelled"}`,
			"POST /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/retry":     `409 {"error":"The job is received","hint":"Only ended jobs start again."}`,
			"POST /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/move":      `{"requestId":"req_01_abcdefghijklmnopqrstuvwxyz","status":"running","nextKindVersion":"5c41f81f16e2b1c70c9b7de9ab3b1a1a"}`,
			"POST /api/kinds/reload":                                     `{"added":["note"],"removed":[],"changed":["meal-suggestions"],"warnings":["kinds/note.md:3: actions: print: there is no program print.sh"]}`,
			"GET /api/jobs":                                              listed,
			"GET /api/kinds":                                             fixture("kinds.json"),
			"GET /api/kinds/note":                                        kindOfNote,
			"GET /api/checkpoints":                                       `{"checkpoints":[` + question + `]}`,
			replies:                                                      strings.Replace(question, "open", "answered", 1),
			"GET /api/checkpoints/chk_03_questionsquestionsquestion":     question,
			"GET /api/sessions/s1/messages":                              chat,
			"GET /api/sessions/s1/messages?after=5&limit=500":            `{"sessionId":"s1","messages":[]}`,
			"GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/transcript": `{"type":"system","text":"\u001b[31m"}` + "\n" + `{"type":"result"}` + "\n",
			"POST /to-llm":                                               `{"success":true,"messageId":4}`,
			"POST /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/approve":   running,
			"POST /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/reject":    `409 {"error":"The job is running","hint":"Only a job with status awaiting_approval can be approved or rejected."}`,
			"GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/audit":      auditLog,
			"GET /api/approvals":                                         `{"approvals":[{"id":"apr_03_approvalapprovalapprovalap","userId":"u1","kind":"careful","rule":"Bash","createdAt":"2026-03-01T10:00:02Z"}]}`,
			"DELETE /api/approvals/apr_03_approvalapprovalapprovalap":    `{"success":true}`,
			"GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/diff":       diffs,
			"GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/logs":       logs,
			"GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/steering":   `{"current_iteration":1,"history":[{"iteration_number":1,"prompt":"Fix it properly"}]}`,
			"POST /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/steer":     strings.Replace(running, "10:00:01Z", "10:00:03Z", 1),
			"GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/callback": `{"requestId":"req_01_abcdefghijklmnopqrstuvwxyz","callbackBaseUrl":"http://localhost:3001",` +
				`"hmac":"5ae1f0"}`,
		},
		events: []string{
			happened(1, "pending", `{"status":"pending","phase":"queued"}`), happened(2, "running", `{"status":"running","phase":"claude"}`),
			happened(3, "activity", `{"message":"Browsing\nrecipes","type":"querying","progress":30}`),
			happened(4, "partial", `{"suggestions":[],"total":2}`), happened(5, "received", `{"suggestionId":"req_01_abcdefghijklmnopqrstuvwxyz"}`),
		},
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func happened(id int, what, data string) string {
	return fmt.Sprintf(`{"id":"%d","event":"recipes:suggestions:%s","requestId":"req_01_abcdefghijklmnopqrstuvwxyz","userId":"u1","time":"2026-03-01T10:00:0%dZ","data":%s}`, id, what, id, data)
}

func (f *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.URL.RequestURI())
	f.tokens = append(f.tokens, r.Header.Get("Authorization"))
	f.bodies[r.Method+" "+r.URL.Path] = string(body)
	answer, known := f.answers[r.Method+" "+r.URL.RequestURI()]
	if !known {
		answer, known = f.answers[r.Method+" "+r.URL.Path]
	}
	if r.URL.Path == "/api/jobs" && len(f.lists) > 0 {
		answer = f.lists[0]
		f.lists = f.lists[1:]
	}
	if r.Method == http.MethodGet && r.URL.Path == "/api/jobs/"+jobID && len(f.records) > 0 {
		answer = f.records[0]
		f.records = f.records[1:]
	}
	line := r.Method + " " + r.URL.Path
	if refusal := f.refusals[line]; refusal != "" {
		answer = refusal
		delete(f.refusals, line)
	} else {
		f.events = append(f.events, f.after[line]...)
		delete(f.after, line)
	}
	f.mu.Unlock()
	if r.URL.Path == "/ws" {
		f.webSocket(w, r)
		return
	}
	if !known {
		answer = strings.Replace(notFound, "Unknown job", "Unknown job at "+r.URL.Path, 1)
	}
	if !known && r.URL.Path == "/api/jobs/"+jobID+"/events" {
		answer = f.eventsAfter(r.URL.Query().Get("since"))
	}
	status := http.StatusOK
	if answer[0] != '{' && answer[0] != '[' {
		_, _ = fmt.Sscanf(answer, "%d", &status)
		_, answer, _ = strings.Cut(answer, " ")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// eventsAfter returns the events after an id, as an answer.
func (f *stub) eventsAfter(since string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	after, _ := strconv.Atoi(since)
	found := []string{}
	for _, frame := range f.events {
		var e struct{ ID string }
		_ = json.Unmarshal([]byte(frame), &e)
		if id, _ := strconv.Atoi(e.ID); id > after {
			found = append(found, frame)
		}
	}
	return `{"events":[` + strings.Join(found, ",") + `]}`
}

func (f *stub) webSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	gone := make(chan struct{})
	go func() {
		_, _, _ = conn.ReadMessage()
		close(gone)
	}()
	for sent := 0; ; {
		f.mu.Lock()
		frames := f.events[sent:]
		f.mu.Unlock()
		for _, frame := range frames {
			_ = conn.WriteMessage(websocket.TextMessage, []byte(frame))
		}
		sent += len(frames)
		select {
		case <-gone:
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// was reports whether the server received a request, such as "GET /api/jobs".
func (f *stub) was(line string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.asked, line)
}

func (f *stub) body(t *testing.T, line string) any {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var v any
	if err := json.Unmarshal([]byte(f.bodies[line]), &v); err != nil {
		t.Fatalf("%s: %v in %q", line, err, f.bodies[line])
	}
	return v
}

// replied returns the body of the reply to the question.
func (f *stub) replied() string { return f.sent(replies) }

// sent returns the body of a request.
func (f *stub) sent(line string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies[line]
}

// printed is the outcome of a command.
type printed struct {
	stdout, stderr string
	code           int
}

// exits checks the exit code of a command and a part of what it says.
func (p printed) exits(t *testing.T, code int, says string, what ...any) {
	t.Helper()
	must.Equal(t, code, p.code, append(what, "exit code; prints", p.stdout, "says", p.stderr)...)
	must.Contain(t, p.stderr, says, what...)
}

// console runs commands against one server as one user would.
type console struct {
	defaults cli.Defaults
	stdin    string
	// keys replaces stdin as standard input, if set.
	keys io.Reader
}

func newConsole(t *testing.T, server string) *console {
	t.Helper()
	return &console{defaults: cli.Defaults{
		ServerURL: server, StateDir: filepath.Join(t.TempDir(), "state"), Location: time.UTC,
		PollInterval: 5 * time.Millisecond, NowFunc: func() time.Time { return time.Date(2026, 3, 1, 10, 3, 7, 0, time.UTC) },
	}}
}

// onTerminal makes standard output a terminal with this many columns.
func (s *console) onTerminal(columns int) *console {
	return s.onScreen(columns, 0)
}

// onScreen makes standard output a terminal of this size.
func (s *console) onScreen(columns, rows int) *console {
	s.defaults.SizeFunc = func(io.Writer) (int, int) { return columns, rows }
	return s
}

func (s *console) run(t *testing.T, args ...string) printed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return s.runTo(ctx, &bytes.Buffer{}, args...)
}

// output is a destination of a command's output.
type output interface {
	io.Writer
	fmt.Stringer
}

func (s *console) runTo(ctx context.Context, stdout output, args ...string) printed {
	root := &cobra.Command{Use: "ringback", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(cli.Commands(s.defaults)...)
	var stderr bytes.Buffer
	root.SetIn(strings.NewReader(s.stdin))
	if s.keys != nil {
		root.SetIn(s.keys)
	}
	root.SetOut(stdout)
	root.SetErr(&stderr)
	code := cli.Execute(ctx, root, args)
	return printed{stdout.String(), stderr.String(), code}
}

// matches compares text with a golden file.
func matches(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", file+".golden")
	if *rewrite {
		must.OK(t, os.WriteFile(file, []byte(got), 0o600))
		return
	}
	must.Equal(t, string(must.Get(os.ReadFile(file))(t)), got, file, "(-rewrite rewrites it)")
}

// The commands of the golden files print what follows them there, in a terminal of so many columns and with
// another record of the job if they say so.
func TestOutput(t *testing.T) {
	t.Parallel()
	records := map[string]string{
		"running": running, "running_note": strings.Replace(running, "meal-suggestions", "note", 1), "expired": expired,
		"waiting": waiting, "under_review": underReview,
	}
	for _, file := range must.Get(filepath.Glob("testdata/commands/*.golden"))(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			golden := string(must.Get(os.ReadFile(file))(t))
			command, _, _ := strings.Cut(golden, "\n")
			line, how, _ := strings.Cut(strings.TrimPrefix(command, "$ ringback "), "   # ")
			words := csv.NewReader(strings.NewReader(line))
			words.Comma, words.LazyQuotes = ' ', true
			f, columns := newStub(t), 0
			for option := range strings.FieldsSeq(how) {
				switch name, value, _ := strings.Cut(option, "="); name {
				case "columns":
					columns = must.Get(strconv.Atoi(value))(t)
				case "record":
					f.answers["GET /api/jobs/"+jobID] = records[value]
				}
			}
			got := newConsole(t, f.URL).onTerminal(columns).run(t, must.Get(words.Read())(t)...)
			text := fmt.Sprintf("%s\nexit code: %d\nstdout:\n%sstderr:\n%s", command, got.code, got.stdout, got.stderr)
			matches(t, strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".golden"), text)
		})
	}
}

func TestJSONIsTheAPIsOwn(t *testing.T) {
	t.Parallel()
	for command, answer := range map[string]string{
		"status req_01_abcdefghijklmnopqrstuvwxyz": received, "run note": received, "kinds note": kindOfNote, "list": listed,
	} {
		f := newStub(t)
		got := newConsole(t, f.URL).run(t, append(strings.Fields(command), "-o", "json")...)
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(got.stdout)); err != nil {
			t.Fatalf("%s: %v in %s", command, err, got.stdout)
		}
		must.Equal(t, answer, compact.String(), command)
	}
}

// Characters in strings cannot control a terminal or change the direction of text, also in JSON on
// a person's terminal. The escaped JSON means the same.
func TestJSONIsHarmless(t *testing.T) {
	t.Parallel()
	const hostile = "\u0080\u009b31m\u202e\u2066\u2028\u200f\u007f\u061c é 😀 \ufffd"
	record := strings.Replace(received, `"kind":"`, `"hostile":"`+hostile+`","kind":"`, 1)
	if record == received {
		t.Fatal("the record has no kind")
	}
	for _, command := range []string{"status req_01_abcdefghijklmnopqrstuvwxyz", "run note", "list"} {
		f := newStub(t)
		f.answers["GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz"] = record
		f.answers["GET /api/jobs"] = `{"jobs":[` + record + `]}`
		got := newConsole(t, f.URL).onTerminal(80).run(t, append(strings.Fields(command), "-o", "json")...).stdout
		for _, r := range got {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028') {
				t.Errorf("%s prints %q", command, r)
			}
		}
		must.Contain(t, got, `\u0080\u009b31m\u202e\u2066\u2028\u200f\u007f\u061c é 😀 `+"\ufffd", command, "has lost what was written:")
	}
}

// Usage errors say what is wrong, and do not contain Go's own error text.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	goish := regexp.MustCompile(`strconv|Go value|Go struct|interface|\[\]|map\[|json:|cli\.|\bint was|%!|hunter2`)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"run", "note", "--input", "@no/such/file"}, "no/such/file"},
		{[]string{"run", "note", "--field", "novalue"}, `name=value, not novalue`},
		{[]string{"run", "note", "--simulate", "magic"}, "--simulate does not allow magic; allowed: manual, success, repair, failure, silence"},
		{[]string{"status"}, "Which job?"},
		{[]string{"watch"}, "Which job?"},
		{[]string{"watch", "a", "--all"}, "--all watches all jobs"},
		{[]string{"status", "a", "--request-id", "b"}, "Give one requestId"},
		{[]string{"status", "a", "--colour"}, "ringback status --help"},
		{[]string{"status", "a", "-o", "yaml"}, "--output does not allow yaml; allowed: table, json"},
		{[]string{"status", "a", "--server", "ftp://x"}, "--server must be an address"},
		{[]string{"status", "a", "--server", "http://user:hunter2@%zz"}, "--server must be an address"},
		{[]string{"list", "--status", "done"}, "--status does not allow done; allowed: pending, "},
		{[]string{"list", "--status", "failed,expird"}, "--status does not allow expird; did you mean expired? allowed: pending, "},
		{[]string{"list", "--status", "failed", "--status", "faild"}, "--status does not allow faild; did you mean failed? allowed: pending, "},
		{[]string{"list", "--status", "failed,"}, "--status does not allow ''; allowed: pending, "},
		{[]string{"list", "--status", ""}, "--status is empty"},
		{[]string{"cancel", "--all", "--yes", "--status", ""}, "--status is empty"},
		{[]string{"cancel", "--all", "--yes", "--status", "failed", "--status", " "}, "--status is empty"},
		{[]string{"run", "note", "--tag", ""}, "--tag is empty"},
		{[]string{"reply"}, "What is the answer?"},
		{[]string{"reply", "yes"}, "ringback inbox"},
		{[]string{"reply", "chk_1", "--approve", "--deny"}, "Use only one of --approve, --deny and --cancel"},
		{[]string{"reply", "chk_1", "--value", "novalue"}, "--value must be name=value"},
		{[]string{"reply", "chk_1", "--values", "[]"}, "--values must be a JSON object"},
		{[]string{"inbox", "--type", "riddle"}, "--type does not allow riddle; allowed: review, "},
		{[]string{"say"}, "say takes a text"},
		{[]string{"say", "hello"}, "Which chat?"},
		{[]string{"steer", "a"}, "steer requires --prompt"},
		{[]string{"diff", "req_01_abcdefghijklmnopqrstuvwxyz", "--file", "nowhere.go"}, `no file nowhere.go`},
		{[]string{"run", "--repo", "x"}, "What should be changed?"},
		{[]string{"run", "--repo", "x", "--prompt", "y", "--verifier", "z"}, "--verifier: found"},
		{[]string{"run", "-f", "no/such/file"}, "no/such/file"},
		{[]string{"dance"}, `unknown command "dance"`},
		{[]string{"run"}, "run takes one kind (ringback kinds lists them), but got none"},
		{[]string{"run", "a b", "c"}, "but got 'a b' c"},
		{[]string{"status", "a", "b"}, "status takes one requestId, but got a b"},
		{[]string{"revoke"}, "revoke takes one approval (ringback approvals lists them), but got none"},
		{[]string{"list", "x"}, "list takes no argument, but got x"},
		{[]string{"list", "--limit", "many"}, "--limit must be a whole number from 1 to 500, not many\nringback list --help"},
		{[]string{"run", "note", "--no-wait=perhaps"}, "--no-wait must be true or false, not perhaps"},
		{[]string{"run", "note", "--input", "[1]"}, "--input must be a JSON object, but got a list"},
		{[]string{"run", "note", "--input", `"x"`}, "but got a text"},
		{[]string{"run", "note", "--input", "null"}, "--input must be a JSON object, but got null"},
		{[]string{"run", "note", "--input", "{x"}, "invalid character 'x'"},
		{[]string{"run", "note", "-i", "request.json"}, "to read the file, write --input @request.json"},
		{[]string{"run", "note", "-i", write("some input", "{}")}, "to read the file, write --input '@" + dir},
		{[]string{"reply", "chk_1", "--values", "values.json"}, "write --values @values.json"},
		{[]string{"run", "-f", write("a.yaml", "prompt: [a]")}, "[1:9] prompt is not a text"},
		{[]string{"run", "-f", write("b.yaml", "prompt: x\nmax_steering_iterations: many")}, "[2:26] max_steering_iterations is not a whole number"},
		{[]string{"run", "-f", write("c.yaml", "require_approval: perhaps")}, "require_approval is not true or false"},
		{[]string{"run", "-f", write("d.yaml", "repos: 5")}, "d.yaml: [1:8]"},
		{[]string{"run", "-f", write("e.yaml", "- x")}, "e.yaml: [1:1]"},
		{[]string{"run", "-f", write("f.yaml", "bogus: 1")}, `unknown field "bogus"`},
		{[]string{"sing"}, "unknown command \"sing\" for \"ringback\"\nringback --help lists the commands\n"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			got := newConsole(t, f.URL).run(t, c.args...)
			if got.code != 2 || !strings.Contains(got.stderr, c.says) || got.stdout != "" || goish.MatchString(strings.ReplaceAll(got.stderr, dir, "")) {
				t.Errorf("exit code %d, says %q, prints %q; want 2 and %q", got.code, got.stderr, got.stdout, c.says)
			}
		})
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "input.json")
	must.OK(t, os.WriteFile(file, []byte(`{"from": "file"}`), 0o600))
	type object = map[string]any
	for _, c := range []struct {
		name, stdin string
		args        []string
		want        object
	}{
		{"none", "", nil, object{}},
		{"in place", "", []string{"--input", `{"a": 1}`}, object{"a": 1.0}},
		{"file", "", []string{"-i", "@" + file}, object{"from": "file"}},
		{"standard input", `{"from": "stdin"}`, []string{"--input", "-"}, object{"from": "stdin"}},
		{
			"fields", "",
			[]string{"--field", "text=two words", "--field", "number=3", "--field", "list=[1]", "--field", "date=2026-03-02", "--field", "equation=a=b", "--field", "empty="},
			object{"text": "two words", "number": 3.0, "list": []any{1.0}, "date": "2026-03-02", "equation": "a=b", "empty": ""},
		},
		{"fields over input", "", []string{"-i", `{"a": 1, "b": 2}`, "--field", "a=9"}, object{"a": 9.0, "b": 2.0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			s := newConsole(t, f.URL)
			s.stdin = c.stdin
			got := s.run(t, append([]string{"run", "note", "--no-wait"}, c.args...)...)
			got.exits(t, 0, "")
			must.Equal(t, any(object{"kind": "note", "input": c.want}), f.body(t, "POST /api/jobs"))
		})
	}
}

func TestRunPassesItsFlagsOn(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	s := newConsole(t, f.URL)
	s.defaults.Token, s.defaults.User = "from-environment", "u1"
	s.run(t, "run", "note", "--session", "s9", "--idempotency-key", "i9", "--simulate", "repair", "--no-wait")
	var want any = map[string]any{
		"kind": "note", "input": map[string]any{}, "userId": "u1", "sessionId": "s9", "idempotencyKey": "i9", "options": map[string]any{"simulate": "repair"},
	}
	must.Equal(t, want, f.body(t, "POST /api/jobs"))
	s.run(t, "list", "--user", "u2", "--token", "from-flag", "--kind", "k", "--status", "failed", "--limit", "3", "--cursor", "c")
	if !f.was("GET /api/jobs?cursor=c&kind=k&limit=3&status=failed&userId=u2") {
		t.Errorf("asked for %v", f.asked)
	}
	must.Equal(t, []string{"Bearer from-environment", "Bearer from-flag"}, f.tokens)
	help := s.run(t, "list", "--help")
	must.NotContain(t, help.stdout+help.stderr, "from-environment")
}

func TestTheLastRunIsMeant(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	s := newConsole(t, f.URL)
	s.run(t, "run", "note", "--no-wait")
	for _, args := range [][]string{{"status"}, {"callback"}, {"watch"}} {
		s.run(t, args...).exits(t, 0, "", args)
	}
	f.answers["GET /api/jobs/"+otherID] = running
	for _, flag := range []string{"--request-id", "--workflow-id"} {
		got := s.run(t, "status", flag, otherID)
		if !strings.HasPrefix(got.stdout, "Status: running\n") {
			t.Errorf("%s: %s%s", flag, got.stdout, got.stderr)
		}
	}
}

func TestWithoutAFolderForTheLastRun(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	s := newConsole(t, f.URL)
	s.defaults.StateDir = filepath.Join(os.DevNull, "nowhere")
	if got := s.run(t, "run", "note", "--no-wait"); got.code != 0 || got.stdout != "req_01_abcdefghijklmnopqrstuvwxyz\n" {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

func TestServerIsNotRunning(t *testing.T) {
	t.Parallel()
	const nobody = "http://127.0.0.1:1" // nothing listens there
	for _, args := range [][]string{{"run", "note"}, {"status", otherID}, {"list"}, {"watch", "--all"}, {"watch", otherID}} {
		got := newConsole(t, nobody).run(t, args...)
		got.exits(t, 1, "No server is running at "+nobody, args)
		must.Contain(t, got.stderr, "ringback serve", args)
	}
}

func TestRefusedInputIsExplained(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["POST /api/jobs"] = `400 {"error":"Invalid input","details":[{"path":"/input/a","message":"is required"},{"path":"","message":"all wrong"}],"hint":"Look it up."}`
	got := newConsole(t, f.URL).run(t, "run", "note")
	must.Equal(t, "Error: Invalid input\n  /input/a  is required\n  all wrong\nLook it up.\n", got.stderr)
	must.Equal(t, "", got.stdout)
	got.exits(t, 1, "")
}

// leaver calls leave when a text has been printed.
type leaver struct {
	printed bytes.Buffer
	text    string
	leave   context.CancelFunc
}

func (l *leaver) String() string { return l.printed.String() }

func (l *leaver) Write(b []byte) (int, error) {
	n, err := l.printed.Write(b)
	if strings.Contains(l.String(), l.text) {
		l.leave()
	}
	return n, err
}

// leaveAt runs a command and interrupts it as Ctrl-C does, once it has printed a text.
func leaveAt(t *testing.T, f *stub, text string, args ...string) printed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got := newConsole(t, f.URL).runTo(ctx, &leaver{text: text, leave: cancel}, args...)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("did not print %q", text)
	}
	return got
}

func TestLeavingARunSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.events = f.events[:2]
	got := leaveAt(t, f, "Claude is on it", "run", "note")
	got.exits(t, 130, "The job continues. Follow it with: ringback watch "+jobID)
	if f.was("POST /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz/cancel") {
		t.Error("the job was cancelled")
	}
}

func TestWatchOfAUser(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	got := leaveAt(t, f, "suggestions:received", "watch", "--all", "--user", "u1", "-o", "json")
	if got.code != 0 || !f.was("GET /ws?userId=u1") {
		t.Errorf("exit code %d, asked for %v, says %q", got.code, f.asked, got.stderr)
	}
}

func TestWatchGoesOnWhenAFailureIsRetried(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.events = []string{happened(1, "error", `{"error":"x"}`), happened(2, "running", `{}`)}
	f.answers["GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz"] = running
	got := leaveAt(t, f, "suggestions:running", "watch", "req_01_abcdefghijklmnopqrstuvwxyz")
	if !strings.Contains(got.stdout, "recipes:suggestions:error") || got.code != 0 {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

func TestColoursOnlyWhereTheyBelong(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	for _, c := range []struct {
		name    string
		columns int
		noColor bool
		want    bool
	}{
		{"terminal", 80, false, true},
		{"terminal with NO_COLOR", 80, true, false},
		{"file", 0, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newConsole(t, f.URL).onTerminal(c.columns)
			s.defaults.NoColor = c.noColor
			must.Equal(t, c.want, strings.Contains(s.run(t, "status", jobID).stdout, "\x1b[3"), "has colours")
		})
	}
}
