// Package harness starts the real server for tests from outside: the binary as shipped,
// with real processes and its own store.
package harness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/must"
	"ringback/test/scan"
)

// Patience is the maximum wait for a condition before a test fails.
const Patience = must.Patience

// Vars are environment variables.
type Vars map[string]string

// Object is a JSON object.
type Object = map[string]any

var binary string

// Main builds the server, runs the tests and returns their exit code. make test builds it
// once for all packages and sets RINGBACK_BINARY. Servers built with -race need four times
// the CPU: make race sets RACE_SERVERS for them.
func Main(m *testing.M) int {
	// A closing httptest.Server closes the idle connections of http.DefaultTransport, also those
	// that a parallel test is about to use. It finds no such method on this one.
	http.DefaultTransport = struct{ http.RoundTripper }{http.DefaultTransport}
	if binary = os.Getenv("RINGBACK_BINARY"); binary != "" {
		return m.Run()
	}
	build := []string{"build"}
	if os.Getenv("RACE_SERVERS") != "" {
		build = append(build, "-race")
	}
	dir, err := os.MkdirTemp("", "ringback-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // an ordinary user must also be able to run it
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary = filepath.Join(dir, "ringback")
	build = append(build, "-o", binary, "ringback/cmd/ringback")
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building ringback: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// Binary returns the path of the server that the tests start.
func Binary() string { return binary }

// Server is a running server.
type Server struct {
	URL string
	// CallbackURL is the URL of its callback listener, if it has a separate one.
	CallbackURL string
	// OperatorURL is the URL of its operators' listener, if it has one.
	OperatorURL string
	Dir         string // its DATA_DIR
	Log         *Log
	Cmd         *exec.Cmd
	// Secrets looks for secrets while it runs, and when it has ended.
	Secrets *scan.Server
	exited  chan struct{}
}

// Options change how a server is started.
type Options struct {
	Env  Vars     // overrides defaults for tests
	Dir  string   // its working directory
	Args []string // of serve
	// Binary is the server to start; empty for the one that Main has built.
	Binary string
	// Change may modify the command before it runs; nil for none.
	Change func(*exec.Cmd)
	// Scan looks for secrets in what the server leaves; nil for tests that start servers
	// hundreds of times in one directory, whose logs are not printed if the test fails.
	Scan *scan.Scan
}

// Start starts a server with defaults for tests that env overrides, and stops it when the
// test ends. change may modify the command before it runs; nil for none.
func Start(t testing.TB, env Vars, change func(*exec.Cmd)) *Server {
	t.Helper()
	return StartWith(t, Options{Env: env, Change: change, Scan: scan.Suite})
}

// StartWith is Start with more options.
func StartWith(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{Log: NewLog(t), Dir: o.Env["DATA_DIR"], Cmd: exec.Command(cmp.Or(o.Binary, binary), append([]string{"serve"}, o.Args...)...)}
	all := Vars{
		"LISTEN_ADDR": "127.0.0.1:0", "OPERATOR_LISTEN_ADDR": "127.0.0.1:0", "PATH": os.Getenv("PATH"), "HOME": t.TempDir(), "RINGBACK_SIMULATE_PACE": "1ms",
		"CLAUDE_BIN": "simulate", "LOG_FORMAT": "text", "GORACE": "halt_on_error=1 exitcode=66 atexit_sleep_ms=0",
	}
	if s.Dir == "" {
		s.Dir = t.TempDir()
		all["DATA_DIR"] = s.Dir
	} else if !filepath.IsAbs(s.Dir) {
		s.Dir = filepath.Join(o.Dir, s.Dir)
	}
	if o.Scan != nil {
		maps.Copy(all, scan.Secrets)
	}
	maps.Copy(all, o.Env)
	if o.Scan != nil {
		o.Scan.PlantVariables(all)
	}
	for name, value := range all {
		s.Cmd.Env = append(s.Cmd.Env, name+"="+value)
	}
	s.Cmd.Dir = o.Dir
	s.Cmd.Stdout, s.Cmd.Stderr = s.Log.File, s.Log.File
	s.Cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if o.Change != nil {
		o.Change(s.Cmd)
	}
	must.OK(t, s.Cmd.Start())
	if o.Scan != nil {
		s.Secrets = o.Scan.Server(s.Cmd.Process.Pid, s.Dir, s.Log)
	}
	s.exited = make(chan struct{})
	go func() {
		_ = s.Cmd.Wait()
		close(s.exited)
	}()
	t.Cleanup(func() { s.end(t) })
	s.awaitStart(t)
	return s
}

// Exited returns a channel that is closed when the process has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Stop sends the process a signal and waits until it has ended.
func (s *Server) Stop(t testing.TB, how syscall.Signal) {
	t.Helper()
	_ = s.Cmd.Process.Signal(how)
	s.AwaitExit(t)
}

// AwaitExit waits until the process has ended.
func (s *Server) AwaitExit(t testing.TB) {
	t.Helper()
	select {
	case <-s.exited:
	case <-time.After(Patience):
		t.Fatal("gave up waiting for the server to end")
	}
}

// listening matches the URLs that a server prints when it has started: its own, and those of its listeners for
// callbacks and operators, if it has them.
var listening = regexp.MustCompile(`(?:Ringback listens on |"listening","url":")(http://[^\s"]+)` +
	`(?:(?:\n  callbacks |","callbackUrl":")(http://[^\s"]+)|","callbackUrl":")?` +
	`(?:(?:\n  operators |","operatorUrl":")(http://[^\s"]+))?(?:"|\n  store)`)

func (s *Server) awaitStart(t testing.TB) {
	t.Helper()
	Eventually(t, "the server to listen", func() bool {
		select {
		case <-s.exited:
			t.Fatalf("the server ended at once:\n%s", s.Log)
		default:
		}
		match := listening.FindStringSubmatch(s.Log.String())
		if match != nil {
			s.URL, s.CallbackURL, s.OperatorURL = match[1], match[2], match[3]
		}
		return match != nil
	})
}

func (s *Server) end(t testing.TB) {
	_ = s.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(20 * time.Second):
		t.Error("the server did not stop within 20 seconds of SIGTERM")
		_ = s.Cmd.Process.Kill()
	}
	EndProcessesUnder(s.Dir)
	if s.Secrets == nil {
		return
	}
	if strings.Contains(s.Log.String(), "DATA RACE") {
		t.Error("the server has a data race")
	}
	s.Secrets.Want(t)
	if t.Failed() {
		t.Logf("server log, %s", s.Log.Ending())
	}
}

// Log collects the output of a process, in a file: unlike a pipe, it contains what a server has
// written before it answers a call.
type Log struct{ *os.File }

// NewLog returns a log for one test.
func NewLog(t testing.TB) *Log {
	t.Helper()
	file := must.Get(os.CreateTemp(t.TempDir(), "log"))(t)
	must.OK(t, os.Remove(file.Name()))
	return &Log{file}
}

// String returns the output so far.
func (l *Log) String() string {
	info, err := l.Stat()
	if err != nil {
		return err.Error()
	}
	text := make([]byte, info.Size())
	n, _ := l.ReadAt(text, 0)
	return string(text[:n])
}

// Ending returns the last lines of the output, each cut to a readable length.
func (l *Log) Ending() string {
	lines := strings.Split(strings.TrimSpace(l.String()), "\n")
	ending := lines[max(0, len(lines)-80):]
	for i, line := range ending {
		if len(line) > 400 {
			ending[i] = line[:400] + " …"
		}
	}
	return fmt.Sprintf("%d of %d lines:\n%s", len(ending), len(lines), strings.Join(ending, "\n"))
}

// Eventually waits until ok returns true.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	must.Eventually(t, what, ok)
}

// Request is one HTTP request.
type Request struct {
	Method, Path string
	// Body is sent as is if it is a string, else as JSON; nil for none.
	Body any
	// Host is sent instead of the URL's host; Header is added to, or replaces,
	// Content-Type.
	Host   string
	Header map[string]string
	// By sends it; nil for a client that follows no redirect and keeps no cookies.
	By *http.Client
}

// Response is the response to a Request.
type Response struct {
	Status int
	Header http.Header
	Text   string
}

// Exchange sends a request to a URL of a server and returns the whole response.
func Exchange(t testing.TB, url string, r Request) Response {
	t.Helper()
	var body []byte
	switch b := r.Body.(type) {
	case nil:
	case string:
		body = []byte(b)
	default:
		body = must.Get(json.Marshal(b))(t)
	}
	req := must.Get(http.NewRequestWithContext(context.Background(), r.Method, url+r.Path, bytes.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	req.Host = r.Host
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	send := http.DefaultTransport.RoundTrip
	if r.By != nil {
		send = r.By.Do
	}
	resp := must.Get(send(req))(t)
	defer resp.Body.Close()
	return Response{Status: resp.StatusCode, Header: resp.Header, Text: string(must.Get(io.ReadAll(resp.Body))(t))}
}

// Dial connects a WebSocket, until the test ends.
func Dial(t testing.TB, url, query string, header http.Header) *websocket.Conn {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(url, "http")+"/ws?"+query, header)
	if err != nil {
		t.Fatalf("connecting to /ws?%s: %v", query, err)
	}
	resp.Body.Close()
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Send sends a request to a URL of a server and returns the status and the body; an empty
// object if that is not a JSON object.
func Send(t testing.TB, url string, r Request) (int, Object) {
	t.Helper()
	resp := Exchange(t, url, r)
	for _, leak := range scan.Suite.Look(scan.Answer(r.Path), []byte(resp.Text)) {
		t.Errorf("a secret is where it may not be: %s", leak)
	}
	answer := Object{}
	_ = json.Unmarshal([]byte(resp.Text), &answer)
	return resp.Status, answer
}

// Text returns the exact body of a response with status 200.
func Text(t testing.TB, address string) string {
	t.Helper()
	resp := Exchange(t, address, Request{Method: http.MethodGet})
	must.Equal(t, http.StatusOK, resp.Status, address, "was answered")
	return resp.Text
}

// Want sends a request and fails the test unless the response has the status.
func (s *Server) Want(t testing.TB, status int, r Request) Object {
	t.Helper()
	got, answer := Send(t, s.URL, r)
	if got != status {
		t.Fatalf("%s %s answered %d, want %d: %v", r.Method, r.Path, got, status, answer)
	}
	return answer
}

// Manual creates a job for which the test plays Claude, and returns its id and the envelope
// of its callbacks. header contains credentials, if the server requires any.
func (s *Server) Manual(t testing.TB, header map[string]string, job Object) (id string, envelope Object) {
	t.Helper()
	all := Object{"kind": "meal-suggestions", "input": Object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}, "options": Object{"simulate": "manual"}}
	maps.Copy(all, job)
	id, _ = s.Want(t, http.StatusAccepted, Request{Method: "POST", Path: "/api/jobs", Body: all, Header: header})["requestId"].(string)
	Eventually(t, "the job to run", func() bool {
		return s.Want(t, http.StatusOK, Request{Method: "GET", Path: "/api/jobs/" + id, Header: header})["status"] == "running"
	})
	values := s.Want(t, http.StatusOK, Request{Method: "GET", Path: "/api/jobs/" + id + "/callback", Header: header})
	return id, Object{"requestId": id, "hmac": values["hmac"]}
}
