package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ringback/internal/cli"
	"ringback/test/must"
)

// openKeyboard returns a terminal: what is written to keys is typed at it.
func openKeyboard(t *testing.T) (keys, terminal *os.File) {
	t.Helper()
	keys = must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { keys.Close() })
	must.OK(t, unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN))(t)
	terminal = must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { terminal.Close() })
	return keys, terminal
}

// typist types once a text was printed.
type typist struct {
	bytes.Buffer
	keys     *os.File
	at, text string
}

func (p *typist) Write(b []byte) (int, error) {
	n, err := p.Buffer.Write(b)
	if strings.HasSuffix(p.String(), p.at) {
		fmt.Fprint(p.keys, p.text)
	}
	return n, err
}

// What was typed before a question was shown answers nothing, whether its line was ended or not.
func TestTypedAheadAnswersNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ahead, after string
		args         []string
		at           string
		sent         string
	}{
		"a yes to cancel":               {"y\n", "\n", []string{"cancel"}, "[y/N] ", ""},
		"an unfinished yes to cancel":   {"y", "\n", []string{"cancel"}, "[y/N] ", ""},
		"several lines":                 {"y\ny\nyes\n", "\n", []string{"approve"}, "[y/N] ", ""},
		"a no, and then a yes":          {"n\n", "y\n", []string{"cancel"}, "[y/N] ", "POST /api/jobs/" + jobID + "/cancel"},
		"another round at a run's end":  {"also the other file\n", "\n", []string{"run", "code-change"}, "leave it: ", ""},
		"an approval at a run's end":    {"approve\n", "\n", []string{"run", "code-change"}, "leave it: ", ""},
		"another round after a steer":   {"also the other file\n", "\n", []string{"steer", jobID, "-p", "More", "--wait"}, "leave it: ", "POST /api/jobs/" + jobID + "/steer"},
		"a message to the last chat":    {"y\n", "\n", []string{"say", "Hello"}, "[y/N] ", ""},
		"an answer to another question": {"y\n", "\n", []string{"reply", "--approve"}, "[y/N] ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := lastRun(t)
			f.events = []string{happened(4, "running", `{}`), happened(5, "checkpoint", checkpointOf(underReview))}
			f.answers["POST /api/checkpoints/chk_03_secondsecondsecondsecondse/reply"] = question
			keys, terminal := openKeyboard(t)
			must.Get(fmt.Fprint(keys, c.ahead))(t)
			s.onTerminal(80).defaults.Pager = "cat"
			said := &typist{keys: keys, at: c.at, text: c.after}
			s.at(t.Context(), terminal, io.Discard, said, c.args...)
			must.Contain(t, said.String(), c.at, "says")
			changed := strings.TrimSpace(strings.ReplaceAll(strings.Join(f.changes(), " "), "POST /api/jobs ", ""))
			if changed == "POST /api/jobs" { // the run itself
				changed = ""
			}
			must.Equal(t, c.sent, changed, "changed; says", said.String())
		})
	}
}

// arrived waits until a text of complete lines that was typed can be read.
func arrived(t *testing.T, terminal *os.File, text string) {
	t.Helper()
	for must.Get(unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCINQ))(t) < len(text) && t.Context().Err() == nil {
		runtime.Gosched()
	}
}

// typedAhead returns what is still to be read at a terminal: of complete lines.
func typedAhead(t *testing.T, terminal *os.File) string {
	t.Helper()
	var text strings.Builder
	for must.Get(unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCINQ))(t) > 0 {
		line := make([]byte, 1024)
		n, err := terminal.Read(line) // one line
		must.OK(t, err)
		text.Write(line[:n])
	}
	return text.String()
}

// at runs a command at a terminal. Its output is not on it.
func (s *console) at(ctx context.Context, terminal *os.File, stdout, stderr io.Writer, args ...string) int {
	root := &cobra.Command{Use: "ringback", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(cli.Commands(s.defaults)...)
	root.SetIn(terminal)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return cli.Execute(ctx, root, args)
}

// prompted leaves the command once it asks something.
type prompted struct {
	bytes.Buffer
	leave func()
}

func (w *prompted) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	for _, prompt := range []string{"[y/N] ", "[1]: ", "leave it: ", "Your reply: ", "Your value: "} {
		if strings.HasSuffix(w.String(), prompt) {
			w.leave()
		}
	}
	return n, err
}

// What was typed ahead for the shell is still there after every command that has asked nothing, and the
// terminal is as it was.
func TestTypedAheadIsLeftToTheShell(t *testing.T) {
	t.Parallel()
	const ahead = "echo one\nyes\n1\n"
	for name := range commandLines(t) {
		for _, with := range []string{"its target", "no target", "no last run"} {
			t.Run(name+" with "+with, func(t *testing.T) {
				t.Parallel()
				f, s := lastRun(t)
				f.answers["GET /api/jobs"] = `{"jobs":[` + underReview + `]}`
				s.defaults.Pager = "cat"
				args := slices.Concat(strings.Fields(name), behind[name])
				switch with {
				case "its target":
					args = slices.Concat(strings.Fields(name), targetOf[name], behind[name])
				case "no last run":
					s.defaults.Terminal = "another"
				}
				if name == "watch" { // it would go on
					f.answers["GET /api/jobs/"+jobID] = received
				}
				keys, terminal := openKeyboard(t)
				before := must.Get(unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS))(t)
				must.Get(fmt.Fprint(keys, ahead))(t)
				arrived(t, terminal, ahead)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				said := &prompted{leave: cancel}
				s.onTerminal(80).at(ctx, terminal, io.Discard, said, args...)
				must.Equal(t, before, must.Get(unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS))(t), "modes")
				asks := ctx.Err() != nil
				shows := !slices.Contains([]string{"approve", "reject", "cancel", "retry", "move", "steer", "interrupt", "reply", "say", "run"}, name)
				if shows && asks {
					t.Errorf("it asks: %q", said.String())
				}
				if left := typedAhead(t, terminal); !asks && left != ahead {
					t.Errorf("it leaves %q and says %q", left, said.String())
				}
			})
		}
	}
}

// answeredElsewhere types something once the run has shown that its question was answered elsewhere, and
// ends the job after that.
type answeredElsewhere struct {
	bytes.Buffer
	f    *stub
	keys *os.File
	text string
}

func (w *answeredElsewhere) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if w.text != "" && strings.Contains(w.String(), "Answered") {
		fmt.Fprint(w.keys, w.text)
		w.text = ""
		w.f.mu.Lock()
		defer w.f.mu.Unlock()
		w.f.events = append(w.f.events, happened(9, "received", `{}`))
	}
	return n, err
}

// asked answers a question elsewhere once it is asked here.
type asked struct {
	bytes.Buffer
	f *stub
}

func (w *asked) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if strings.HasSuffix(w.String(), "Your reply: ") {
		w.f.mu.Lock()
		defer w.f.mu.Unlock()
		w.f.events = append(w.f.events, happened(3, "checkpoint:resolved", strings.Replace(question, `"open"`, `"answered"`, 1)))
	}
	return n, err
}

// Once its question is withdrawn, a run reads nothing: what is typed then is meant for the shell.
func TestAWithdrawnQuestionReadsNothing(t *testing.T) {
	t.Parallel()
	f, s := asksInPlace(t, "")
	s.defaults.TypedFunc = nil
	keys, terminal := openKeyboard(t)
	out := &answeredElsewhere{f: f, keys: keys, text: "echo one\necho two\n"}
	code := s.at(t.Context(), terminal, out, &asked{f: f}, "run", "media")
	must.Equal(t, 0, code, "exit code; prints", out.String())
	arrived(t, terminal, "echo one\necho two\n")
	must.Equal(t, "echo one\necho two\n", typedAhead(t, terminal))
}
