package docs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/test/must"
)

// terminal is a bash in which commands are typed one after another, as in a terminal: they
// share their state.
type terminal struct {
	cmd *exec.Cmd
	// commands receives commands, each ended by NUL; statuses returns their exit statuses.
	commands *os.File
	statuses <-chan string
	// screen is a file, so that the output of a command is complete when it ends.
	screen string
	// seen is the length of the output of earlier commands.
	seen int
	// busy is true while the last command runs.
	busy bool
}

// prompt runs in bash: Ctrl-C ends the command, not the shell.
const prompt = `trap : INT
set -o pipefail
while IFS= read -r -d '' command <&3; do
  eval "$command" 3<&- 4>&-
  echo $? >&4
done`

func openTerminal(t testing.TB, dir string, env []string) *terminal {
	t.Helper()
	term := &terminal{screen: filepath.Join(t.TempDir(), "screen"), cmd: exec.Command("bash", "--noprofile", "--norc", "-c", prompt)}
	screen := must.Get(os.OpenFile(term.screen, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600))(t)
	defer screen.Close()
	theirCommands, commands := pipe(t)
	statuses, theirStatuses := pipe(t)
	term.commands = commands
	term.cmd.Dir, term.cmd.Env = dir, env
	term.cmd.ExtraFiles = []*os.File{theirCommands, theirStatuses}
	term.cmd.Stdout, term.cmd.Stderr = screen, screen
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.OK(t, term.cmd.Start())
	theirCommands.Close()
	theirStatuses.Close()
	lines := make(chan string, 1)
	term.statuses = lines
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(statuses); s.Scan(); {
			lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		commands.Close()
		_ = syscall.Kill(-term.cmd.Process.Pid, syscall.SIGKILL)
		_ = term.cmd.Wait()
		statuses.Close()
	})
	return term
}

func pipe(t testing.TB) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	must.OK(t, err)
	return reader, writer
}

// enter types a command.
func (term *terminal) enter(t testing.TB, command string) {
	t.Helper()
	term.seen, term.busy = len(term.printed()), true
	must.Get(fmt.Fprintf(term.commands, "%s\x00", command))(t)
}

// printed returns all that is on the screen.
func (term *terminal) printed() string {
	text, _ := os.ReadFile(term.screen) // gone only with the test
	return string(text)
}

// output returns the output of the last command so far.
func (term *terminal) output() string { return term.printed()[term.seen:] }

// ctrlC interrupts the running command, as the keys do.
func (term *terminal) ctrlC() { _ = syscall.Kill(-term.cmd.Process.Pid, syscall.SIGINT) }

// end waits for the last command and returns its exit status.
func (term *terminal) end(timeout time.Duration) (status string, ok bool) {
	select {
	case status, ok = <-term.statuses:
		term.busy = !ok
		return strings.TrimSpace(status), ok
	case <-time.After(timeout):
		return "", false
	}
}
