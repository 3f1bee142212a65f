package process_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

func sh(t *testing.T, script string, c process.Command) (process.Ended, error) {
	t.Helper()
	c.Args, c.Dir = []string{"sh", "-c", script}, t.TempDir()
	if c.Env == nil {
		c.Env = []string{"PATH=" + os.Getenv("PATH")}
	}
	return process.Run(t.Context(), c)
}

func TestRunTellsHowItEnded(t *testing.T) {
	t.Parallel()
	var lines []string
	ended, err := sh(t, `cat; echo one; echo; printf 'two'; echo wrong >&2; exit 3`, process.Command{
		Stdin: []byte("zero\n"), Line: func(text string) { lines = append(lines, text) },
	})
	if err != nil || ended.Code != 3 || ended.Stdout != "zero\none\n\ntwo" || ended.Stderr != "wrong\n" || ended.LastLine != "two" {
		t.Errorf("got %+v, %v", ended, err)
	}
	must.Equal(t, "zero,one", strings.Join(lines, ","), "the lines were")
}

func TestOutputKeepsItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	ended := must.Get(sh(t, `echo begin; head -c 1000000 /dev/zero | tr '\0' x; echo; echo end`, process.Command{OutputLimit: 1000}))(t)
	if len(ended.Stdout) > 1100 || !strings.HasPrefix(ended.Stdout, "begin\n") || !strings.HasSuffix(ended.Stdout, "\nend\n") || !strings.Contains(ended.Stdout, "bytes left out") {
		t.Errorf("got %d bytes: %.40s", len(ended.Stdout), ended.Stdout)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it ends and leaves a child": `sleep 1000 >/dev/null 2>&1 & echo $! > pid`,
		"the child holds the output": `sleep 1000 & echo $! > pid`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Get(process.Run(t.Context(), process.Command{Args: []string{"sh", "-c", script}, Dir: dir, Env: os.Environ()}))(t)
			awaitGone(t, dir)
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	c := process.Command{Args: []string{"sh", "-c", `trap "" TERM; sleep 1000 & echo $! > pid; echo ready; wait; sleep 1000`}, Dir: dir, Env: os.Environ()}
	c.Line = func(string) { cancel() }
	if _, err := process.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	awaitGone(t, dir)
}

// awaitGone waits until the process with the recorded pid has ended.
func awaitGone(t *testing.T, dir string) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(dir, "pid")))(t)
	pid := must.Get(strconv.Atoi(strings.TrimSpace(string(text))))(t)
	must.Eventually(t, "the process to end", func() bool { return process.StartTime(pid) == "" })
}

func TestWhatADeadServerLeftIsEnded(t *testing.T) {
	t.Parallel()
	if len(process.Marked(func(string) bool { return true })) == 0 && process.StartTime(os.Getpid()) == "" {
		t.Skip("processes of others cannot be seen here")
	}
	left := exec.Command("sleep", "1000")
	left.Env = append(os.Environ(), process.MarkerVar+"="+strings.Replace(process.OwnMarker("run"), "/"+process.StartTime(os.Getpid())+"/", "/1/", 1))
	mine := exec.Command("sleep", "1000")
	mine.Env = append(os.Environ(), process.MarkerVar+"="+process.OwnMarker("run"))
	elsewhere := exec.Command("sleep", "1000") // of another container, whose pids mean nothing here
	elsewhere.Env = append(os.Environ(), process.MarkerVar+"=of/"+strconv.Itoa(os.Getpid())+"/1/elsewhere/run")
	for _, cmd := range []*exec.Cmd{left, mine, elsewhere} {
		must.OK(t, cmd.Start())
		defer func() { _ = cmd.Wait() }()
		defer func() { _ = cmd.Process.Kill() }()
	}
	must.Equal(t, 1, process.EndOrphans(), "were ended")
	if err := left.Wait(); err == nil || left.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", left.ProcessState)
	}
	for _, cmd := range []*exec.Cmd{mine, elsewhere} {
		if process.StartTime(cmd.Process.Pid) == "" {
			t.Errorf("%s was ended", cmd.Env[len(cmd.Env)-1])
		}
	}
}
