package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	"github.com/spf13/cobra"

	"ringback/internal/cli"
)

// fake is a server with one job, which answers as the contract says.
type fake struct {
	URL string
	// answers holds the JSON of each "METHOD /path".
	answers map[string]string
	// statuses holds those that are not 200.
	statuses map[string]int
	// frames are the events of its job.
	frames []string

	mu   sync.Mutex
	seen []string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{answers: map[string]string{}, statuses: map[string]int{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.URL = server.URL
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	what := r.Method + " " + r.URL.Path
	f.mu.Lock()
	f.seen = append(f.seen, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	f.mu.Unlock()
	if r.URL.Path == "/ws" {
		f.serveEvents(w, r)
		return
	}
	answer, ok := f.answers[what]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"Unknown request"}`)
		return
	}
	if status := f.statuses[what]; status != 0 {
		w.WriteHeader(status)
	}
	_, _ = io.WriteString(w, answer)
}

func (f *fake) serveEvents(w http.ResponseWriter, r *http.Request) {
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for _, text := range f.frames {
		_ = conn.WriteMessage(websocket.TextMessage, []byte(text))
	}
	_, _, _ = conn.ReadMessage() // until the client goes
}

// requests are the method, path and body of what was asked so far.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.seen...)
}

// outcome is what a user sees of a command.
type outcome struct {
	Stdout, Stderr string
	Exit           int
}

// shell runs commands as the binary does.
type shell struct {
	defaults cli.Defaults
	stdin    string
}

func newShell(t *testing.T, f *fake) *shell {
	t.Helper()
	return &shell{defaults: cli.Defaults{
		ServerURL: f.URL, Token: "very-secret", User: "u1", StateDir: t.TempDir(), Location: time.UTC,
		ColumnsFunc: func(io.Writer) int { return 0 },
	}}
}

// terminal gives the shell a terminal of so many columns.
func (s *shell) terminal(columns int) *shell {
	s.defaults.ColumnsFunc = func(io.Writer) int { return columns }
	return s
}

func (s *shell) run(ctx context.Context, args ...string) outcome {
	var out, errOut bytes.Buffer
	code := s.runTo(ctx, &out, &errOut, args...)
	return outcome{out.String(), errOut.String(), code}
}

func (s *shell) runTo(ctx context.Context, out, errOut io.Writer, args ...string) int {
	root := &cobra.Command{Use: "ringback", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(cli.FlagError)
	root.AddCommand(cli.Commands(s.defaults)...)
	root.SetArgs(args)
	root.SetIn(strings.NewReader(s.stdin))
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err != nil {
		cli.PrintError(errOut, err)
	}
	return cli.ExitCode(err)
}

// update rewrites the goldens: go test ./internal/cli -update
var update = flag.Bool("update", false, "rewrite testdata")

// golden compares what a user sees with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// values reads JSON for comparing.
func values(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	return v
}
