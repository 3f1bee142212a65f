package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

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
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			root := &cobra.Command{Use: "ringback", SilenceErrors: true, SilenceUsage: true}
			root.AddCommand(cli.Commands(s.defaults)...)
			said := &typist{keys: keys, at: c.at, text: c.after}
			root.SetIn(terminal)
			root.SetOut(&bytes.Buffer{})
			root.SetErr(said)
			cli.Execute(ctx, root, c.args)
			must.Contain(t, said.String(), c.at, "says")
			changed := strings.TrimSpace(strings.ReplaceAll(strings.Join(f.changes(), " "), "POST /api/jobs ", ""))
			if changed == "POST /api/jobs" { // the run itself
				changed = ""
			}
			must.Equal(t, c.sent, changed, "changed; says", said.String())
		})
	}
}
