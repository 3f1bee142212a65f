package process_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

// detached returns a shell script as a program that outlives its server.
func detached(t *testing.T, script string) process.Detached {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, "files", name) }
	return process.Detached{
		Args: []string{"sh", "-c", script}, Dir: filepath.Join(dir, "work"), Env: os.Environ(), Marker: "test/" + filepath.Base(dir) + t.Name(),
		Files: process.Files{Record: file("record"), Stdout: file("stdout"), Stderr: file("stderr")},
	}
}

// start starts a program that ends with the test.
func start(t *testing.T, d process.Detached) *process.Process {
	t.Helper()
	p := must.Get(process.Start(t.Context(), d))(t)
	t.Cleanup(func() {
		p.Kill()
		<-p.Done()
	})
	return p
}

// read waits until a file ends with a complete line, and returns it.
func read(t *testing.T, path string) (text string) {
	t.Helper()
	must.Eventually(t, "a line in "+filepath.Base(path), func() bool {
		found, err := os.ReadFile(path)
		text = string(found)
		return err == nil && strings.HasSuffix(text, "\n")
	})
	return text
}

func TestADetachedProgramMeetsItsServerInFiles(t *testing.T) {
	t.Parallel()
	d := detached(t, `cat; pwd; echo "$RINGBACK_PROCESS" >&2; ls -l /proc/self/fd/0 >&2`)
	d.Stdin = "asked\n"
	p := start(t, d)
	if exit := p.Exit(); !exit.Known || exit.Code != 0 || exit.Signal != "" || p.EndedWhole() {
		t.Errorf("it ended with %+v", exit)
	}
	must.Equal(t, "asked\n"+d.Dir+"\n", read(t, d.Files.Stdout), "it printed")
	errs := read(t, d.Files.Stderr)
	if !strings.HasPrefix(errs, d.Marker+"\n") {
		t.Errorf("its marker was %q", errs)
	}
	if _, err := os.Stat("/proc/self/fd"); err == nil && !strings.Contains(errs, "(deleted)") {
		t.Errorf("what it reads lies in a file: %s", errs)
	}
}

func TestADetachedProgramTellsHowItEnded(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]process.Exit{
		`exit 0`:         {Known: true},
		`exit 3`:         {Known: true, Code: 3},
		`kill -SEGV $$`:  {Known: true, Code: -1, Signal: "segmentation fault"},
		`no-such-a-tool`: {Known: true, Code: 127},
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, want, start(t, detached(t, script)).Exit())
		})
	}
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	d := detached(t, "")
	d.Args = []string{"/no/such/program"}
	if p, err := process.Start(t.Context(), d); p != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestAProcessIsAdoptedOnlyWhereItIsTheOneThatWasStarted(t *testing.T) {
	t.Parallel()
	spoil := func(text string) func(*testing.T, process.Detached, *process.Process) {
		return func(t *testing.T, d process.Detached, p *process.Process) {
			t.Helper()
			text = strings.ReplaceAll(text, "PID", strconv.Itoa(p.PID))
			text = strings.ReplaceAll(text, "MARKER", d.Marker)
			must.OK(t, os.WriteFile(d.Files.Record, []byte(text), 0o600))
		}
	}
	for name, c := range map[string]struct {
		before func(*testing.T, process.Detached, *process.Process)
		marker string
		want   bool
	}{
		"it lives":                              {want: true},
		"it has ended":                          {before: func(_ *testing.T, _ process.Detached, p *process.Process) { p.Kill(); <-p.Done() }},
		"it was never recorded":                 {before: func(_ *testing.T, d process.Detached, _ *process.Process) { _ = os.Remove(d.Files.Record) }},
		"its record was cut short":              {before: spoil(`{"pid":PID,"star`)},
		"its record is empty":                   {before: spoil(``)},
		"its pid belongs to another by now":     {before: spoil(`{"pid":PID,"started":"1","marker":"MARKER"}`)},
		"it is not known when it was started":   {before: spoil(`{"pid":PID,"started":"","marker":"MARKER"}`)},
		"another turn is looked for":            {marker: "test/another"},
		"no process ever had the recorded pid":  {before: spoil(`{"pid":2147483647,"started":"","marker":"MARKER"}`)},
		"the record is of something else still": {before: spoil(`[1,2]`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := detached(t, "sleep 1000")
			p := start(t, d)
			if c.before != nil {
				c.before(t, d, p)
			}
			if c.marker == "" {
				c.marker = d.Marker
			}
			adopted, err := process.Adopt(d.Files, c.marker)
			if err != nil || (adopted != nil) != c.want || c.want && adopted.PID != p.PID {
				t.Errorf("adopted %+v, %v", adopted, err)
			}
		})
	}
}

func TestTheEndOfAnAdoptedProcessIsNoticed(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*process.Process){
		"it ends by itself":       func(p *process.Process) { _ = syscall.Kill(p.PID, syscall.SIGUSR1) },
		"it is told to end":       func(p *process.Process) { p.Terminate(10 * time.Second) },
		"it is killed":            (*process.Process).Kill,
		"it ends as it is looked": func(p *process.Process) { go p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := detached(t, `trap 'kill $!; exit 3' USR1; sleep 1000 & echo ready; wait`)
			start(t, d)
			read(t, d.Files.Stdout)
			adopted, err := process.Adopt(d.Files, d.Marker)
			if err != nil || adopted == nil {
				t.Fatalf("got %v, %v", adopted, err)
			}
			end(adopted)
			select {
			case <-adopted.Done():
			case <-time.After(time.Minute):
				t.Fatal("its end was not noticed")
			}
			if exit := adopted.Exit(); exit.Known {
				t.Errorf("%+v is known of another's child", exit)
			}
		})
	}
}

func TestTerminateEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it ends when it is told to":            `sleep 1000 & echo $! > pid; echo ready; wait`,
		"it does not listen":                    `trap "" TERM; sleep 1000 & echo $! > pid; echo ready; wait; sleep 1000`,
		"it was stopped":                        `sleep 1000 & echo $! > pid; echo ready; kill -STOP $$`,
		"it ends by itself, its child does not": `sh -c 'trap "" TERM; sleep 1000' & echo $! > pid; echo ready`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := detached(t, script)
			p := start(t, d)
			read(t, d.Files.Stdout)
			p.Terminate(200 * time.Millisecond)
			p.Terminate(200 * time.Millisecond) // a second call is allowed
			must.Equal(t, "", process.StartTime(p.PID), "it is still there")
			awaitGone(t, d.Dir)
		})
	}
}

func TestASweepEndsWhateverCarriesAMarker(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes of others cannot be seen here")
	}
	for name, c := range map[string]struct {
		env  string
		gone bool
	}{
		"of the turn":                           {process.MarkerVar + "=test/swept", true},
		"of another turn":                       {process.MarkerVar + "=test/swept2", false},
		"of none of ours":                       {"OTHER=test/swept", false},
		"of one whose name only ends like ours": {"X" + process.MarkerVar + "=test/swept", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// In its own session, so that no process group's end reaches it.
			stray := exec.Command("setsid", "sh", "-c", "echo; kill -STOP $$")
			stray.Env = []string{"PATH=" + os.Getenv("PATH"), strings.ReplaceAll(c.env, "swept", "swept"+t.Name())}
			printed, err := stray.StdoutPipe()
			if err == nil {
				err = stray.Start()
			}
			must.OK(t, err)
			defer func() { _ = stray.Wait() }()
			defer func() { _ = stray.Process.Kill() }()
			_, _ = printed.Read(make([]byte, 1)) // a program that just begins has no environment yet
			sweeper := process.NewSweeper(slog.New(slog.DiscardHandler))
			sweeper.Add("test/swept" + t.Name())
			sweeper.Sweep()
			must.Equal(t, c.gone, process.StartTime(stray.Process.Pid) == "", "gone")
		})
	}
}

// A marker that is to be swept can be used again for the next process once it is clear, even if a sweep has begun.
func TestAMarkerIsUsedAgain(t *testing.T) {
	t.Parallel()
	const marker = "test/used-again"
	sweeper := process.NewSweeper(slog.New(slog.DiscardHandler))
	for range 30 {
		sweeper.Add(marker)
		begun, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			close(begun)
			sweeper.Sweep()
		}()
		<-begun
		sweeper.Clear(marker)
		d := detached(t, "sleep 1000")
		d.Marker = marker
		p := start(t, d)
		<-ended
		select {
		case <-p.Done():
			t.Fatalf("a sweep that had begun before ended the next process: %+v", p.Exit())
		case <-time.After(5 * time.Millisecond):
		}
		p.Kill()
		<-p.Done()
	}
}
