package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
	"ringback/internal/store/storetest"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
	"ringback/test/scan"
)

// wantInOrder looks, at the end of a test, for unlisted keys and fields, and for entries
// that do not match the records.
func wantInOrder(t testing.TB, url string) {
	t.Helper()
	client := must.Get(store.Connect(url))(t)
	s := store.New(client, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler))
	defer s.Close()
	if unknown, err := s.Unknown(context.Background()); err == nil && len(unknown) > 0 { // a test may have stopped it
		t.Errorf("keys and fields that internal/store does not list: %q", unknown)
	}
	report, _ := doctor.New(s, lifecycle.New(s, nil, lifecycle.Options{UserLimit: 1}), slog.New(slog.DiscardHandler)).Examine(context.Background(), false)
	for _, f := range report.Findings {
		t.Errorf("the store is not in order: %s: %s %s %s", f.Problem, f.Key, f.Member, f.RequestID)
	}
}

func StartRedis(t testing.TB) *harness.RedisServer {
	t.Helper()
	return StartScannedRedis(t, scan.Suite)
}

// StartScannedRedis is StartRedis for tests of the scan itself.
func StartScannedRedis(t testing.TB, s *scan.Scan) *harness.RedisServer {
	t.Helper()
	return StartRedisAt(t, s, "127.0.0.1")
}

// StartRedisAt starts a Redis at an address of this machine.
func StartRedisAt(t testing.TB, s *scan.Scan, addr string) *harness.RedisServer {
	t.Helper()
	return harness.StartRedisAt(t, s, addr, func(r *harness.RedisServer) { wantInOrder(t, r.URL) })
}

// SetTimeOfDay sets the store's time, see storetest.SetTimeOfDay.
func SetTimeOfDay(t testing.TB, r *harness.RedisServer, at time.Duration) (day time.Time) {
	t.Helper()
	client := must.Get(store.Connect(r.URL))(t)
	defer client.Close()
	return storetest.SetTimeOfDay(t, client, at)
}

// Node is a running server.
type Node struct {
	*harness.Server
	Env harness.Vars // its environment
	Key string       // sent with each request, if it is not empty
}

// Start starts a server with defaults for tests that env overrides, and stops it when
// the test ends.
func Start(t testing.TB, env harness.Vars, args ...string) *Node {
	t.Helper()
	return StartIn(t, "", env, args...)
}

// StartIn is Start in a working directory; "" for that of this process.
func StartIn(t testing.TB, cwd string, env harness.Vars, args ...string) *Node {
	t.Helper()
	return StartWith(t, harness.Options{Env: env, Dir: cwd, Args: args, Scan: scan.Suite})
}

// StartOn starts a server with one role on a host of a network.
func StartOn(t testing.TB, h *harness.Host, env harness.Vars, role string) *Node {
	t.Helper()
	return StartWith(t, harness.Options{Env: env, Args: []string{"--role", role}, Change: h.Run, Scan: scan.Suite})
}

func StartWith(t testing.TB, o harness.Options) *Node {
	t.Helper()
	n := &Node{Env: o.Env}
	o.Env = harness.Vars{"SANDBOX": "off", "CLAUDE_BIN": "no-claude-here"} // many tests' jobs use files outside of the job; see RealClaude
	maps.Copy(o.Env, n.Env)
	n.Server = harness.StartWith(t, o)
	return n
}

// Kill kills the server, like a crash.
func (n *Node) Kill(t testing.TB) {
	t.Helper()
	n.Stop(t, syscall.SIGKILL)
}

// Again kills and restarts the server.
func (n *Node) Again(t testing.TB) *Node {
	t.Helper()
	n.Kill(t)
	return StartIn(t, n.Cmd.Dir, n.Env)
}

// ProcessesIn returns the processes of a node, by its DATA_DIR.
func ProcessesIn(dir string) []int { return harness.ProcessesUnder(dir + "/nodes") }

// Elsewhere returns the settings of another node that shares the store.
func (n *Node) Elsewhere(t testing.TB) harness.Vars {
	t.Helper()
	env := maps.Clone(n.Env)
	env["DATA_DIR"], env["LISTEN_ADDR"] = t.TempDir(), "127.0.0.1:"+harness.FreePort(t)
	return env
}

// Respond sends a request and returns the response.
func (n *Node) Respond(t testing.TB, method, path string, body any, headers ...string) harness.Response {
	t.Helper()
	header := map[string]string{}
	if n.Key != "" {
		header["Authorization"] = "Bearer " + n.Key
	}
	for i := 0; i+1 < len(headers); i += 2 {
		header[headers[i]] = headers[i+1]
	}
	resp := harness.Exchange(t, n.URL, harness.Request{Method: method, Path: path, Body: body, Header: header})
	n.Secrets.Look(t, scan.Answer(path), []byte(resp.Text))
	return resp
}

// Do sends a request and returns the status and body of the response.
func (n *Node) Do(t testing.TB, method, path string, body any, headers ...string) (int, harness.Object) {
	t.Helper()
	resp := n.Respond(t, method, path, body, headers...)
	var answer harness.Object
	if err := json.Unmarshal([]byte(resp.Text), &answer); err != nil {
		t.Fatalf("%s %s answered %d with something other than a JSON object: %s", method, path, resp.Status, resp.Text)
	}
	return resp.Status, answer
}

// Want sends a request and fails the test unless the response has the status.
func (n *Node) Want(t testing.TB, status int, method, path string, body any) harness.Object {
	t.Helper()
	got, answer := n.Do(t, method, path, body)
	if got != status {
		t.Fatalf("%s %s answered %d, want %d: %v", method, path, got, status, answer)
	}
	return answer
}

// Text returns the body of an endpoint's response.
func (n *Node) Text(t testing.TB, path string) string {
	t.Helper()
	text := harness.Text(t, n.URL+path)
	n.Secrets.Look(t, scan.Answer(path), []byte(text))
	return text
}

// Raw requests a path exactly as it is written.
func (n *Node) Raw(t testing.TB, method, path string, headers ...string) (resp *http.Response, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.URL, "http://"))
	must.OK(t, err)
	defer conn.Close()
	var head strings.Builder
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", method, path)
	for i := 0; i+1 < len(headers); i += 2 {
		fmt.Fprintf(&head, "%s: %s\r\n", headers[i], headers[i+1])
	}
	must.Get(io.WriteString(conn, head.String()+"\r\n"))(t)
	resp, err = http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %.100s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	return resp, string(text)
}

// Ready returns whether the server is ready, with its reasons, as its operators see them.
func (n *Node) Ready(t testing.TB) (status int, reasons harness.Object) {
	t.Helper()
	return harness.Send(t, n.OperatorURL, harness.Request{Method: http.MethodGet, Path: "/readyz"})
}

// WantReady fails the test unless the server is ready, and returns what it reports.
func (n *Node) WantReady(t testing.TB) harness.Object {
	t.Helper()
	status, reasons := n.Ready(t)
	must.Equal(t, http.StatusOK, status, "/readyz", reasons)
	return reasons
}

// Metrics returns all metrics.
func (n *Node) Metrics(t testing.TB) string {
	t.Helper()
	return harness.Text(t, n.OperatorURL+"/metrics")
}

func (n *Node) Metric(t testing.TB, name string) float64 {
	t.Helper()
	match := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(n.Metrics(t))
	if match == nil {
		t.Fatalf("there is no metric %s", name)
	}
	return must.Get(strconv.ParseFloat(match[1], 64))(t)
}

// Main builds the server, runs the tests of a room and returns their exit code.
func Main(m *testing.M) int {
	defer func() {
		for _, dir := range paths.made {
			_ = os.RemoveAll(dir)
		}
	}()
	return harness.Main(m)
}

// OnEachStore runs a test with a real Redis (as a user with only the documented rights), the embedded one
// and the one in process. A commit chooses one of them.
func OnEachStore(t *testing.T, check func(t *testing.T, env harness.Vars)) {
	t.Helper()
	for _, name := range sample.Of(t, 1, []string{"redis", "embedded", "in process"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := harness.Vars{}
			switch name {
			case "redis":
				env["REDIS_URL"] = StartRedis(t).Restricted(t, store.Rights()...)
			case "in process":
				env["PATH"] = PathWithout(t, "redis-server", "valkey-server")
			}
			check(t, env)
		})
	}
}

// Restartable returns an environment in which a second node replaces the first: same
// address, same directory.
func Restartable(t testing.TB, claude string) harness.Vars {
	t.Helper()
	port := harness.FreePort(t)
	return harness.Vars{
		"REDIS_URL": StartRedis(t).URL, "LISTEN_ADDR": "127.0.0.1:" + port, "DATA_DIR": t.TempDir(), "CLAUDE_BIN": claude,
	}
}
