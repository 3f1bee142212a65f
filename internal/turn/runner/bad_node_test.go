package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/runner"
	"ringback/test/harness"
	"ringback/test/must"
)

// program writes a program to a directory of its own.
func program(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, file, []byte(text))
	return file
}

// A CLI that starts and dies at once costs no job an attempt. Its node says why and blocks itself, and another
// node runs the jobs. When the CLI is repaired, the node finds that out.
func TestANodeWhoseCLIDiesAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, says string }{
		"its interpreter is missing":      {"#!/usr/bin/env no-such-interpreter\n", "exit code 127"},
		"it is for another architecture":  {"#!/bin/sh\n" + harness.AnswersVersion + "echo 'Exec format error' >&2; exit 126\n", "Exec format error"},
		"its home is not accessible":      {"#!/bin/sh\n" + harness.AnswersVersion + "echo 'EACCES: mkdir /root/.claude' >&2; exit 1\n", "EACCES"},
		"it is killed by a signal":        {"#!/bin/sh\n" + harness.AnswersVersion + "kill -SEGV $$\n", "killed by the system"},
		"it exits 0 without a line":       {"#!/bin/sh\n" + harness.AnswersVersion + "exit 0\n", "without printing a line"},
		"it prints nothing and hangs":     {"#!/bin/sh\n" + harness.AnswersVersion + "sleep 1000\n", "printed nothing within 2s"},
		"it prints what no CLI would":     {"#!/bin/sh\n" + harness.AnswersVersion + "echo hello; exit 3\n", "exit code 3"},
		"its file is no program any more": {"\x7fELF nonsense", "Exec format error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			bad := program(t, c.script)
			timeout := time.Minute // a busy machine is slow
			if strings.Contains(name, "hangs") {
				timeout = 4 * time.Second
			}
			n := f.start(bad, false, func(o *runner.Options) { o.Dir, o.StartTimeout = t.TempDir(), timeout })
			var ids []job.ID
			for range 6 {
				ids = append(ids, f.create("poem", map[string]any{}))
			}
			f.eventually("the node to block itself", func() bool { return n.Problem() != nil })
			must.Fail(t, n.Problem(), c.says)
			for _, id := range ids {
				if j := f.get(id); j.State.Terminal() || j.Attempt != 0 {
					t.Errorf("a job is %s after %d attempts: %s", j.State, j.Attempt, j.Error)
				}
			}
			good := f.start(f.claude("sleep 1000\n"), false, func(o *runner.Options) { o.Workers = 6 })
			f.eventually("the other node to run all jobs", func() bool { return good.Running() == len(ids) && f.begun() >= len(ids) })
			for _, id := range ids {
				if j := f.get(id); j.Node != good.Node() || j.Attempt != 0 {
					t.Errorf("a job runs on %s after %d attempts", j.Node, j.Attempt)
				}
				must.OK(t, f.jobs.Cancel(t.Context(), id, job.Actor{}))
			}
			good.stop()
			harness.WriteProgram(t, bad, []byte("#!/bin/sh\n"+harness.AnswersVersion+beginning+"sleep 1000\n"))
			f.create("poem", map[string]any{})
			f.eventually("the repaired node to find out", func() bool { return n.Problem() == nil && n.Running() > 0 })
		})
	}
}

// What the server reports while it clones is no sign of life of the CLI's: a change costs no attempt either.
func TestAChangeOnANodeWhoseCLIDiesAtOnce(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	n := f.start(program(t, "#!/bin/sh\n"+harness.AnswersVersion+"exit 127\n"), false, nil)
	id := f.createChange()
	f.eventually("the node to block itself", func() bool { return n.Problem() != nil })
	f.eventually("the job to wait", func() bool { return f.get(id).State == job.Pending })
	if j := f.get(id); j.Attempt != 0 || j.LastFailure == nil {
		t.Errorf("it has made %d attempts, the last failure is %+v", j.Attempt, j.LastFailure)
	}
	if called, err := f.jobs.HasCalledBack(t.Context(), id); called || err != nil {
		t.Errorf("Claude has called back: %t, %v", called, err)
	}
}

// A CLI that prints nothing but calls back works.
func TestACLIThatOnlyCallsBackHasStarted(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	n := f.start(f.silentClaude("", "until [ -e called ]; do sleep 0.02; done\n"), false, nil)
	for range 4 {
		id := f.create("poem", map[string]any{})
		begun := f.begun()
		f.eventually("Claude to begin", func() bool { return f.begun() > begun })
		facts, _, _, err := f.store.Calls.Header(t.Context(), id)
		must.OK(t, err)
		must.Get(f.store.Calls.Progress(t.Context(), id, facts, []byte(`{"message":"x"}`), "digest-00001"))(t)
		dir := must.Get(n.MakeWorkDir(id))(t)
		must.OK(t, os.WriteFile(filepath.Join(dir, "called"), nil, 0o600))
		f.eventually("the attempt to count", func() bool { return f.get(id).Attempt == 1 })
		must.OK(t, f.jobs.Cancel(t.Context(), id, job.Actor{}))
		must.OK(t, n.Problem())
	}
}

// Jobs that make their own start fail use up their attempts, whether their CLI ends or hangs. They block no
// node, and delay no other user.
func TestJobsThatSpoilTheirOwnStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, says string
		jobs         int
	}{
		"their CLI ends":   {"echo 'bad prompt' >&2; exit 1", "bad prompt", 60},
		"their CLI is mum": {"exit 0", "without submitting a result", 10},
		"their CLI hangs":  {"trap '' TERM; sleep 1000", "Claude printed nothing for 2s.", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			bin := f.silentClaude("", "case $(cat) in *poison*) "+c.script+";; esac\n"+beginning+"touch "+f.notes+"/good\nsleep 1000\n")
			n := f.start(bin, false, func(o *runner.Options) { o.StartTimeout, o.Grace = 2*time.Second, 100*time.Millisecond })
			var ids []job.ID
			for range c.jobs {
				ids = append(ids, f.create("poem", map[string]any{"prompt": "poison"}))
			}
			f.eventually("a turn to fail", func() bool { return n.NotStarted() > 0 })
			good := must.Get(f.jobs.Create(t.Context(), lifecycle.Request{UserID: "u2", ByBackEnd: true, Kind: "poem", Input: map[string]any{}}))(t)
			f.eventually("another user's job to begin", func() bool { return f.noted("good") })
			left := 0
			for _, id := range ids {
				if !f.get(id).State.Terminal() {
					left++
				}
			}
			if left < c.jobs/2 {
				t.Errorf("it begins when only %d of %d are left", left, c.jobs)
			}
			for _, id := range ids {
				f.eventually("the jobs to fail", func() bool { return f.get(id).State.Terminal() })
				must.OK(t, n.Problem())
				if j := f.get(id); j.State != job.Failed || j.Attempt != j.MaxAttempts || !strings.Contains(j.Error, c.says) {
					t.Errorf("a job is %s after %d attempts: %s", j.State, j.Attempt, j.Error)
				}
			}
			must.Equal(t, 0, f.get(good.ID).Attempt, "attempts of the other job")
		})
	}
}

// An attempt after a failed start is made on another node, if there is one.
func TestAFailedStartIsTriedElsewhere(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	own := func(o *runner.Options) { o.Dir, o.Workers, o.Backoff = t.TempDir(), 6, 2*time.Second }
	first := f.start(f.silentClaude("", "exit 1\n"), false, own)
	var ids []job.ID
	for n := range 6 {
		j := must.Get(f.jobs.Create(t.Context(), lifecycle.Request{UserID: fmt.Sprint("u", n), ByBackEnd: true, Kind: "poem", Input: map[string]any{}}))(t)
		ids = append(ids, j.ID)
	}
	f.eventually("the turns to fail", func() bool { return first.NotStarted() == len(ids) })
	second := f.start(program(t, "#!/bin/sh\n"+beginning+"sleep 1000\n"), false, own)
	f.eventually("another node to run all", func() bool { return second.Running() == len(ids) })
	for _, id := range ids {
		must.Equal(t, 2, f.get(id).Turn, "turns of a job")
	}
	must.OK(t, first.Problem())
}

// A node that hangs while it prepares a turn gives the job back.
func TestAStartThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	hangs := program(t, "#!/bin/sh\n"+harness.AnswersTrial+"trap '' TERM\nwhile :; do sleep 1; done\n") // on --version
	soon := func(o *runner.Options) { o.StartTimeout, o.Dir = time.Second, t.TempDir() }
	n := f.start(hangs, false, soon)
	id := f.create("poem", map[string]any{})
	f.eventually("the turn to be given up", func() bool { return f.get(id).LastFailure != nil })
	if j := f.get(id); j.LastFailure.ErrorCode != job.CodeStalled || j.Attempt != 1 {
		t.Errorf("after %d attempts, the last failure is %+v", j.Attempt, j.LastFailure)
	}
	good := f.start(f.claude("sleep 1000\n"), false, func(o *runner.Options) { o.Dir = t.TempDir() })
	f.eventually("another node to run it", func() bool { return good.Running() == 1 && f.get(id).Node == good.Node() })
	n.stop()
	if j := f.get(id); j.State != job.Running || j.Node != good.Node() {
		t.Errorf("the job is %s on %s", j.State, j.Node)
	}
}

// Directories of the server's that were removed are made again.
func TestADirectoryThatWasRemovedIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"conversations", "nodes", "."} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			n := f.start(f.claude("sleep 1000\n"), false, nil)
			must.OK(t, os.RemoveAll(filepath.Join(f.dir, place)))
			id := f.create("poem", map[string]any{})
			f.eventually("Claude to begin", func() bool { return f.begun() == 1 })
			must.OK(t, n.Problem())
			if j := f.get(id); j.Attempt != 0 || j.LastFailure != nil {
				t.Errorf("it took %d attempts; last failure: %v", j.Attempt, j.LastFailure)
			}
		})
	}
}

// A node comes back so late that another one has its turn. It ends the process that it left.
func TestANodeThatComesBackLateEndsWhatItLeft(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	id := f.create("poem", map[string]any{})
	first := f.start(f.claude(hang), false, nil)
	f.eventually("Claude to begin", func() bool { return f.begun() == 1 })
	first.stop()
	left := f.pids()
	for _, lost := range must.Get(f.store.Nodes.Lost(t.Context(), first.Node()))(t) {
		must.Get(f.jobs.LoseNode(t.Context(), lost))(t)
	}
	other := f.start(f.claude(hang), false, func(o *runner.Options) { o.Dir = t.TempDir() })
	f.eventually("the other node to run it", func() bool { return f.begun() == 2 && other.Running() == 1 })
	f.start(f.claude(hang), false, nil)
	f.eventually("what it left to be ended", func() bool {
		return len(left) > 0 && !slices.ContainsFunc(f.pids(), func(pid int) bool { return slices.Contains(left, pid) })
	})
	must.Equal(t, other.Node(), f.get(id).Node, "the job is still with")
}

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
