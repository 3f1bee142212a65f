package runner_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ringback/internal/turn/runner"
	"ringback/test/must"
)

// Reading the login of the CLI's user hangs, with its file system. The node sends heartbeats, takes jobs and stops.
func TestALoginThatHangs(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	home := t.TempDir()
	file := filepath.Join(home, ".claude.json")
	must.OK(t, os.WriteFile(file, []byte("{}"), 0o600))
	n := f.start(f.claude(hang), false, func(o *runner.Options) {
		o.Heartbeat, o.Environ = 100*time.Millisecond, append(os.Environ(), "HOME="+home)
	})
	must.OK(t, os.Remove(file))
	must.OK(t, syscall.Mkfifo(file, 0o600))
	t.Cleanup(func() { // for those who still read
		if w, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = w.Close()
		}
	})
	for range 5 {
		before := n.Heartbeat()
		f.eventually("a heartbeat", func() bool { return n.Heartbeat().Sub(before) > 50*time.Millisecond })
	}
	f.create("poem", map[string]any{})
	f.eventually("Claude to begin", func() bool { return f.begun() == 1 })
	begun := time.Now()
	n.stop()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it stops after %s", took)
	}
}
