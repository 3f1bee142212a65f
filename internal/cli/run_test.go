package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/cli"
	"ringback/internal/client"
)

func TestRunShowsProgressAndResult(t *testing.T) {
	t.Parallel()
	f := withJob(newFake(t), "received", finished+`,"result":`+mealsJSON, goodRun()...)
	for name, columns := range map[string]int{"pipe": 0, "terminal": 100, "narrow": 40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newShell(t, f).terminal(columns).run(t.Context(), "run", "meal-suggestions")
			if got.Exit != 0 || got.Stderr != "" {
				t.Errorf("exit %d, stderr %q", got.Exit, got.Stderr)
			}
			golden(t, "run-"+name+".txt", visible(got.Stdout))
		})
	}
}

// visible makes what steers a terminal readable.
func visible(s string) string {
	return strings.NewReplacer("\x1b", "<esc>", "\r", "<return>\n").Replace(s)
}

func TestRunWithoutColourStillUpdatesOneLine(t *testing.T) {
	t.Parallel()
	f := withJob(newFake(t), "received", finished+`,"result":{"done":true}`, goodRun()...)
	s := newShell(t, f).terminal(80)
	s.defaults.NoColor = true
	got := s.run(t.Context(), "run", "other").Stdout
	if strings.Contains(got, "\x1b[3") || strings.Contains(got, "\x1b[0m") || !strings.Contains(got, "\r\x1b[K") {
		t.Errorf("want an updated line without colours, got\n%s", visible(got))
	}
}

func TestRunPrintsJSONForPrograms(t *testing.T) {
	t.Parallel()
	f := withJob(newFake(t), "received", finished+`,"result":`+mealsJSON, goodRun()...)
	got := newShell(t, f).run(t.Context(), "run", "meal-suggestions", "-o", "json")
	golden(t, "run.json", got.Stdout)
	if diff := cmp.Diff(values(t, f.answers["GET /api/jobs/"+sampleID]), values(t, got.Stdout)); diff != "" {
		t.Errorf("not the API's JSON (-API +printed):\n%s", diff)
	}
	if !strings.Contains(got.Stderr, "Browsing Italian recipes...") {
		t.Errorf("no progress on stderr: %q", got.Stderr)
	}
}

func TestRunExitsByHowTheJobEnded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		state, event, more string
		exit               int
		says               []string
	}{
		{"received", "received", `,"result":{"a":1}`, 0, []string{"received after 42.5s", `"a": 1`}},
		{"failed", "error", `,"error":"No recipe fits","errorCode":"claude_failed"`, 1, []string{"failed after", "No recipe fits (claude_failed)", "ringback retry " + sampleID}},
		{"expired", "error", `,"error":"Claude did not respond in time","errorCode":"callback_timeout"`, 1, []string{"did not respond", "ringback retry"}},
		{"cancelled", "cancelled", `,"error":"Cancelled on request","errorCode":"cancelled"`, 1, []string{"Cancelled on request"}},
		{"rejected", "rejected", ``, 1, []string{"rejected after"}},
	}
	for _, tt := range tests {
		t.Run(tt.state, func(t *testing.T) {
			t.Parallel()
			f := withJob(newFake(t), tt.state, finished+tt.more, sampleEvent(1, "pending", `{}`), sampleEvent(2, tt.event, `{}`))
			got := newShell(t, f).run(t.Context(), "run", "k")
			if got.Exit != tt.exit {
				t.Errorf("exit %d, want %d", got.Exit, tt.exit)
			}
			for _, want := range tt.says {
				if !strings.Contains(got.Stdout, want) {
					t.Errorf("no %q in\n%s", want, got.Stdout)
				}
			}
			if strings.Contains(got.Stderr, "Error") {
				t.Errorf("the ending is told twice: %s", got.Stderr)
			}
		})
	}
	t.Run("rejected offers no retry", func(t *testing.T) {
		t.Parallel()
		f := withJob(newFake(t), "rejected", finished, sampleEvent(1, "rejected", `{}`))
		if got := newShell(t, f).run(t.Context(), "run", "k"); strings.Contains(got.Stdout, "retry") {
			t.Errorf("got\n%s", got.Stdout)
		}
	})
}

func TestRunSendsWhatTheFlagsSay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(file, []byte(`{"from":"file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"nothing", "", nil, `{"kind":"k","input":{},"userId":"u1"}`},
		{"JSON, numbers untouched", "", []string{"--input", `{"n":1.50}`}, `{"kind":"k","input":{"n":1.50},"userId":"u1"}`},
		{"a file", "", []string{"-i", "@" + file}, `{"kind":"k","input":{"from":"file"},"userId":"u1"}`},
		{"standard input", `{"from":"stdin"}`, []string{"--input", "-"}, `{"kind":"k","input":{"from":"stdin"},"userId":"u1"}`},
		{
			"fields", "",
			[]string{"--input", `{"a":1,"b":2}`, "--field", "a=2026-03-02", "-f", "n=4", "-f", `l=["x"]`, "-f", "t=a=b", "-f", "e="},
			`{"kind":"k","input":{"a":"2026-03-02","b":2,"e":"","l":["x"],"n":4,"t":"a=b"},"userId":"u1"}`,
		},
		{
			"the rest", "",
			[]string{"--session", "s", "--idempotency-key", "i", "--simulate", "repair", "--user", "u2"},
			`{"kind":"k","input":{},"userId":"u2","sessionId":"s","idempotencyKey":"i","options":{"simulate":"repair"}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := withJob(newFake(t), "pending", "")
			s := newShell(t, f)
			s.stdin = tt.stdin
			got := s.run(t.Context(), append([]string{"run", "k", "--no-wait"}, tt.args...)...)
			if diff := cmp.Diff(outcome{sampleID + "\n", "", 0}, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"POST /api/jobs " + tt.want}, f.requests()); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunByHandTellsHowToPlayClaude(t *testing.T) {
	t.Parallel()
	f := withJob(newFake(t), "pending", "")
	got := newShell(t, f).run(t.Context(), "run", "k", "--simulate", "manual")
	if got.Exit != 0 || !strings.Contains(got.Stdout+got.Stderr, "ringback callback") {
		t.Errorf("got %+v", got)
	}
	for _, r := range f.requests() {
		if strings.Contains(r, "/ws") {
			t.Errorf("it waits although nobody plays Claude yet: %s", r)
		}
	}
}

func TestCtrlCLeavesTheJobRunning(t *testing.T) {
	t.Parallel()
	f := withJob(newFake(t), "running", "", sampleEvent(1, "pending", `{}`), sampleEvent(2, "running", `{}`))
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &notify{on: "Claude", do: interrupt}
	var errOut bytes.Buffer
	if code := newShell(t, f).runTo(ctx, out, &errOut, "run", "k"); code == 0 || code == 2 {
		t.Errorf("exit %d although no result came", code)
	}
	if !strings.Contains(errOut.String(), "ringback watch "+sampleID) || strings.Contains(errOut.String(), "Error") {
		t.Errorf("stderr does not say how to go on: %q", errOut.String())
	}
	if slices.ContainsFunc(f.requests(), func(r string) bool { return strings.Contains(r, "cancel") }) {
		t.Error("the job was cancelled")
	}
}

// notify calls do once something was written.
type notify struct {
	bytes.Buffer
	on   string
	do   func()
	once sync.Once
}

func (n *notify) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(n.on)) {
		n.once.Do(n.do)
	}
	return n.Buffer.Write(b)
}

func TestHostileTextCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	evil, err := json.Marshal("\x1b[2J\x07\u009b31mboo\r\nStatus: received")
	if err != nil {
		t.Fatal(err)
	}
	f := withJob(newFake(t), "failed", finished+`,"error":`+string(evil)+`,"errorCode":"claude_failed"`,
		sampleEvent(1, "activity", `{"message":`+string(evil)+`,"progress":50}`), sampleEvent(2, "error", `{}`))
	got := newShell(t, f).run(t.Context(), "run", "k")
	if strings.ContainsAny(got.Stdout, "\x1b\x07\r\u009b") || strings.Contains(got.Stdout, "\nStatus: received") {
		t.Errorf("got %q", got.Stdout)
	}
}

func TestRunAndShow(t *testing.T) {
	t.Parallel()
	f := withJob(newFake(t), "received", finished+`,"result":`+mealsJSON, goodRun()...)
	var out bytes.Buffer
	err := cli.RunAndShow(t.Context(), client.New(f.URL, ""), client.NewJob{Kind: "meal-suggestions", UserID: "demo"}, &out, true)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "run-pipe.txt", out.String())
}
