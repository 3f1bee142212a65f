package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringback/client"
	"ringback/internal/cli"
	"ringback/internal/job"
	"ringback/test/must"
)

// ended returns the record of a job in a state, with further fields.
func ended(state job.State, more string) string {
	return fmt.Sprintf(`{"requestId":"req_01_abcdefghijklmnopqrstuvwxyz","kind":"note","userId":"u1","status":%q,"input":{},"usage":{},`+
		`"createdAt":"2026-03-01T10:00:00Z","finishedAt":"2026-03-01T10:00:42.5Z"%s}`, state, more)
}

func TestRunExitsByHowTheJobEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state job.State
		event job.EventType
		more  string
		code  int
		says  string
		retry bool
	}{
		{job.Received, job.EventReceived, `,"result":{"a":1}`, 0, `"a": 1`, false},
		{job.Failed, job.EventError, `,"error":"No recipe fits","errorCode":"claude_failed"`, 1, "No recipe fits (claude_failed)", true},
		{job.Expired, job.EventError, `,"error":"Claude did not respond in time"`, 1, "Claude did not respond in time", true},
		{job.Cancelled, job.EventCancelled, `,"errorCode":"cancelled"`, 1, "cancelled after 42.5s", true},
		{job.Rejected, job.EventRejected, ``, 1, "rejected after 42.5s", false},
	} {
		t.Run(string(c.state), func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz"] = ended(c.state, c.more)
			f.events = []string{happened(1, "pending", `{}`), happened(2, string(c.event), `{}`)}
			got := newConsole(t, f.URL).run(t, "run", "note")
			if got.code != c.code || !strings.Contains(got.stdout, c.says) || got.stderr != "" {
				t.Errorf("exit code %d, want %d and %q once; got %q and %q", got.code, c.code, c.says, got.stdout, got.stderr)
			}
			must.Equal(t, c.retry, strings.Contains(got.stdout, "ringback retry "+jobID), "offers a retry:", got.stdout)
		})
	}
}

func TestStatusBeginsWithTheState(t *testing.T) {
	t.Parallel()
	for _, state := range job.States {
		f := newStub(t)
		f.answers["GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz"] = ended(state, "")
		got := newConsole(t, f.URL).run(t, "status", "req_01_abcdefghijklmnopqrstuvwxyz")
		first, _, _ := strings.Cut(got.stdout, "\n")
		must.Equal(t, "Status: "+string(state), first)
	}
}

func TestHostileTextCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	evil, err := json.Marshal("\x1b[2J\a\u009b31mboo\r\nreceived after 1s")
	must.OK(t, err)
	f := newStub(t)
	f.answers["GET /api/jobs/req_01_abcdefghijklmnopqrstuvwxyz"] = ended(job.Failed, `,"error":`+string(evil))
	f.events = []string{happened(1, "activity", `{"message":`+string(evil)+`,"progress":1e9}`), happened(2, "error", `{}`)}
	got := newConsole(t, f.URL).run(t, "run", "note").stdout
	must.Equal(t, false, strings.ContainsAny(got, "\x1b\a\r\u009b") || strings.Contains(got, "\nreceived"), "prints", got)
}

func TestProgressIsOneLineThatFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns int
		noColor bool
	}{{40, false}, {80, false}, {80, true}} {
		f := newStub(t)
		f.events[2] = happened(3, "activity", `{"message":"`+strings.Repeat("long ", 40)+`","progress":100}`)
		s := newConsole(t, f.URL).onTerminal(c.columns)
		s.defaults.NoColor = c.noColor
		got := s.run(t, "run", "note").stdout
		shown := got[:strings.LastIndex(got, "\r\x1b[K")]
		lines := strings.Split(shown, "\r\x1b[K")
		if len(lines) != 5 || strings.Contains(shown, "\n") {
			t.Errorf("want one line, written anew for each event; got %q", shown)
		}
		for _, line := range lines {
			line = strings.NewReplacer("\x1b[36m", "", "\x1b[0m", "").Replace(line)
			if len([]rune(line)) >= c.columns {
				t.Errorf("%q would wrap at %d columns", line, c.columns)
			}
		}
		must.Equal(t, !c.noColor, strings.Contains(got, "\x1b[3"), "has colours:", got)
	}
}

func TestRunAndShow(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	var out bytes.Buffer
	err := cli.RunAndShow(t.Context(), client.New(f.URL), client.NewJob{Kind: "meal-suggestions", UserID: "demo"}, &out, true)
	must.OK(t, err)
	for _, want := range []string{"Browsing recipes", "2026-03-02\tdinner\tLentil soup\t35 min\tred lentils, onion, carrots"} {
		must.Contain(t, out.String(), want)
	}
}

func TestRunShowsWhatIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		columns int
	}{{"run-asked", 0}, {"run-asked-terminal", 60}} {
		f := newStub(t)
		f.events = []string{
			happened(1, "running", `{"phase":"claude"}`), happened(2, "checkpoint", question),
			happened(3, "checkpoint:resolved", question), happened(4, "received", `{}`),
		}
		got := newConsole(t, f.URL).onTerminal(c.columns).run(t, "run", "meal-suggestions")
		matches(t, "output/"+c.name, got.stdout)
	}
}

// What Claude has reported last stays while its change is verified.
func TestProgressStaysAfterClaudesWork(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.events = []string{
		happened(1, "activity", `{"message":"Nearly there","progress":80}`), happened(2, "running", `{"phase":"verifying"}`),
		happened(3, "pending", `{"phase":"queued"}`), happened(4, "received", `{}`),
	}
	got := newConsole(t, f.URL).run(t, "run", "note").stdout
	if !strings.HasPrefix(got, " 80%  Nearly there\n 80%  Verifying\n  0%  Waiting for a worker\n") {
		t.Errorf("prints %q", got)
	}
}
