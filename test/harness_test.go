package test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/scan"
)

// patience is how long to wait for a condition before a test fails.
const patience = harness.Patience

func TestMain(m *testing.M) {
	if url := os.Getenv(playBare); url != "" {
		playBareServer(url)
		os.Exit(1)
	}
	code := harness.Main(m)
	removePaths()
	os.Exit(code)
}

func startRedis(t testing.TB) *harness.RedisServer {
	t.Helper()
	return startScannedRedis(t, scan.Suite)
}

// startScannedRedis is startRedis for tests of the scan itself.
func startScannedRedis(t testing.TB, s *scan.Scan) *harness.RedisServer {
	t.Helper()
	return startRedisAt(t, s, "127.0.0.1")
}

// startRedisAt starts a Redis at an address of this machine.
func startRedisAt(t testing.TB, s *scan.Scan, addr string) *harness.RedisServer {
	t.Helper()
	return harness.StartRedisAt(t, s, addr, func(r *harness.RedisServer) { wantInOrder(t, r.URL) })
}

// wantInOrder looks, at the end of a test, for unlisted keys and fields, and for entries
// that do not match the records.
func wantInOrder(t testing.TB, url string) {
	t.Helper()
	client := must.Get(store.Connect(url))(t)
	s := store.New(client, store.Options{}, slog.New(slog.DiscardHandler))
	defer s.Close()
	if unknown, err := s.Unknown(context.Background()); err == nil && len(unknown) > 0 { // a test may have stopped it
		t.Errorf("keys and fields that internal/store does not list: %q", unknown)
	}
	report, _ := doctor.New(s, lifecycle.New(s, nil, lifecycle.Options{UserLimit: 1}), slog.New(slog.DiscardHandler)).Examine(context.Background(), false)
	for _, f := range report.Findings {
		t.Errorf("the store is not in order: %s: %s %s %s", f.Problem, f.Key, f.Member, f.RequestID)
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	return harness.FreePort(t)
}

// node is a running server.
type node struct {
	*harness.Server
	env vars   // its environment
	key string // sent with each request, if it is not empty
}

// vars are environment variables.
type vars = harness.Vars

// startNode starts a server with defaults for tests that env overrides, and stops it when
// the test ends.
func startNode(t testing.TB, env vars, args ...string) *node {
	t.Helper()
	return startNodeIn(t, "", env, args...)
}

// startNodeIn is startNode in a working directory; "" for that of this process.
func startNodeIn(t testing.TB, cwd string, env vars, args ...string) *node {
	t.Helper()
	return startNodeWith(t, harness.Options{Env: env, Dir: cwd, Args: args, Scan: scan.Suite})
}

// startNodeOn starts a server with one role on a host of a network.
func startNodeOn(t testing.TB, h *harness.Host, env vars, role string) *node {
	t.Helper()
	return startNodeWith(t, harness.Options{Env: env, Args: []string{"--role", role}, Change: h.Run, Scan: scan.Suite})
}

func startNodeWith(t testing.TB, o harness.Options) *node {
	t.Helper()
	n := &node{env: o.Env}
	o.Env = vars{"SANDBOX": "off", "CLAUDE_BIN": "no-claude-here"} // many tests' jobs use files outside of the job; see realClaude
	maps.Copy(o.Env, n.env)
	n.Server = harness.StartWith(t, o)
	return n
}

// processesIn returns the processes of a node, by its DATA_DIR.
func processesIn(dir string) []int { return harness.ProcessesUnder(dir + "/nodes") }

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	harness.Eventually(t, what, ok)
}

// object is a JSON object.
type object = harness.Object

// respond sends a request and returns the response.
func (n *node) respond(t testing.TB, method, path string, body any, headers ...string) harness.Response {
	t.Helper()
	header := map[string]string{}
	if n.key != "" {
		header["Authorization"] = "Bearer " + n.key
	}
	for i := 0; i+1 < len(headers); i += 2 {
		header[headers[i]] = headers[i+1]
	}
	resp := harness.Exchange(t, n.URL, harness.Request{Method: method, Path: path, Body: body, Header: header})
	n.Secrets.Look(t, scan.Answer(path), []byte(resp.Text))
	return resp
}

// do sends a request and returns the status and body of the response.
func (n *node) do(t testing.TB, method, path string, body any, headers ...string) (int, object) {
	t.Helper()
	resp := n.respond(t, method, path, body, headers...)
	var answer object
	if err := json.Unmarshal([]byte(resp.Text), &answer); err != nil {
		t.Fatalf("%s %s answered %d with something other than a JSON object: %s", method, path, resp.Status, resp.Text)
	}
	return resp.Status, answer
}

// want sends a request and fails the test unless the response has the status.
func (n *node) want(t testing.TB, status int, method, path string, body any) object {
	t.Helper()
	got, answer := n.do(t, method, path, body)
	if got != status {
		t.Fatalf("%s %s answered %d, want %d: %v", method, path, got, status, answer)
	}
	return answer
}

// create creates a job and returns its requestId.
func (n *node) create(t testing.TB, job object) string {
	t.Helper()
	if job["kind"] == nil {
		job["kind"], job["input"] = "meal-suggestions", mealInput()
	}
	return n.want(t, http.StatusAccepted, "POST", "/api/jobs", job)["requestId"].(string)
}

func mealInput() object {
	return object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}
}

// manual creates a job for which the test plays Claude, and returns the fields of its
// callbacks.
func (n *node) manual(t testing.TB, job object) (id string, envelope object) {
	t.Helper()
	job["options"] = object{"simulate": "manual"}
	id = n.create(t, job)
	return id, n.envelope(t, id)
}

// renew waits for the job's next turn, and puts that turn's signature into an envelope.
func (n *node) renew(t testing.TB, envelope object) {
	t.Helper()
	maps.Copy(envelope, n.envelope(t, envelope["requestId"].(string)))
}

// say sends a message to a chat, and returns the message's id.
func (n *node) say(t testing.TB, session, text string) float64 {
	t.Helper()
	return n.want(t, 200, "POST", "/to-llm", object{"sessionId": session, "userId": "u1", "content": text})["messageId"].(float64)
}

// with adds fields to an envelope.
func with(envelope, fields object) object {
	all := maps.Clone(envelope)
	maps.Copy(all, fields)
	return all
}

func mealResult(dishes ...string) object {
	suggestions := []any{}
	for _, dish := range dishes {
		suggestions = append(suggestions, object{"date": "2026-03-02", "mealType": "dinner", "recipe": object{"name": dish, "source": "Own recipe"}})
	}
	return object{"suggestions": suggestions, "reasoning": "Because."}
}

// await waits until a job is in a state and returns its record.
func (n *node) await(t testing.TB, id, state string) object {
	t.Helper()
	var record object
	deadline := time.Now().Add(patience)
	for {
		record = n.want(t, http.StatusOK, "GET", "/api/jobs/"+id, nil)
		if record["status"] == state {
			return record
		}
		if record["finishedAt"] != nil || time.Now().After(deadline) {
			t.Fatalf("job is %v, waited for %s: %v", record["status"], state, record)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// listener is a WebSocket client. It separates chat events from job events.
type listener struct {
	t        testing.TB
	conn     *websocket.Conn
	frames   chan object
	messages chan object
	closed   chan error
}

// listen connects with the given query.
func (n *node) listen(t testing.TB, query string) *listener {
	t.Helper()
	conn := harness.Dial(t, n.URL, query, nil)
	l := &listener{t: t, conn: conn, frames: make(chan object, 4096), messages: make(chan object, 4096), closed: make(chan error, 1)}
	go func() {
		for {
			var frame object
			_, text, err := conn.ReadMessage()
			if err == nil {
				n.Secrets.Look(t, scan.Place{Where: scan.Frame}, text)
				err = json.Unmarshal(text, &frame)
			}
			if err != nil {
				l.closed <- err
				return
			}
			if event, _ := frame["event"].(string); strings.HasSuffix(event, ":message") {
				l.messages <- frame
			} else {
				l.frames <- frame
			}
		}
	}()
	return l
}

// next returns the next frame.
func (l *listener) next() object {
	l.t.Helper()
	select {
	case frame := <-l.frames:
		return frame
	case err := <-l.closed:
		l.t.Fatalf("the WebSocket closed: %v", err)
	case <-time.After(patience):
		l.t.Fatal("gave up waiting for a WebSocket frame")
	}
	return nil
}

// until returns all frames up to the one with the given event name.
func (l *listener) until(event string) []object {
	l.t.Helper()
	var frames []object
	for {
		frame := l.next()
		frames = append(frames, frame)
		if frame["event"] == event {
			return frames
		}
	}
}

// storedEvents returns the stored events of a job except chat events.
func (n *node) storedEvents(t testing.TB, id, query string) []object {
	t.Helper()
	var found []object
	for _, e := range n.want(t, http.StatusOK, "GET", "/api/jobs/"+id+"/events"+query, nil)["events"].([]any) {
		if event := e.(object); !strings.HasSuffix(event["event"].(string), ":message") {
			found = append(found, event)
		}
	}
	return found
}

// names returns the event names of frames.
func names(frames []object) []string {
	list := make([]string, len(frames))
	for i, f := range frames {
		list[i], _ = f["event"].(string)
	}
	return list
}

// details maps the paths of an error's details to their messages.
func details(t testing.TB, answer object) map[string]string {
	t.Helper()
	found := map[string]string{}
	list, _ := answer["details"].([]any)
	for _, d := range list {
		found[d.(object)["path"].(string)] = d.(object)["message"].(string)
	}
	return found
}

// begins prints the CLI's first line: without it, a CLI that ends has not started.
const begins = `echo '{"type":"system","subtype":"init"}'; `

// script writes an executable that plays the CLI.
func script(t testing.TB, body string) string {
	t.Helper()
	return program(t, harness.AnswersVersion+harness.AnswersTrial+body)
}

// program writes an executable.
func program(t testing.TB, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, file, "#!/bin/bash\n"+body)
	return file
}

// paths contains the directories of pathWithout, by what they lack. They contain some
// thousand links each, so tests share them.
var paths = struct {
	sync.Mutex
	made map[string]string
}{made: map[string]string{}}

// pathWithout returns a PATH that lacks some commands. Tests may not write to it.
func pathWithout(t testing.TB, missing ...string) string {
	t.Helper()
	paths.Lock()
	defer paths.Unlock()
	name := strings.Join(missing, " ")
	if paths.made[name] != "" {
		return paths.made[name]
	}
	dir, err := os.MkdirTemp("", "path") //nolint:usetesting // it outlives the test
	if err == nil {
		err = os.Chmod(dir, 0o755) // other users run what is in it
	}
	must.OK(t, err)
	paths.made[name] = dir
	for _, place := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(place)
		for _, e := range entries {
			if !slices.Contains(missing, e.Name()) {
				_ = os.Symlink(filepath.Join(place, e.Name()), filepath.Join(dir, e.Name()))
			}
		}
	}
	return dir
}

func removePaths() {
	for _, dir := range paths.made {
		_ = os.RemoveAll(dir)
	}
}

// terminate is the signal that stops a server.
const terminate = syscall.SIGTERM

// kill kills the server, like a crash.
func (n *node) kill(t testing.TB) {
	t.Helper()
	n.Stop(t, syscall.SIGKILL)
}

// again kills and restarts the server.
func (n *node) again(t testing.TB) *node {
	t.Helper()
	n.kill(t)
	return startNodeIn(t, n.Cmd.Dir, n.env)
}

// flat returns a JSON object as text, to search for words.
func flat(answer object) string {
	text, _ := json.Marshal(answer)
	return string(text)
}
