package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/runner"
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
		"it is killed by a signal":        {"#!/bin/sh\n" + harness.AnswersVersion + "kill -SEGV $$\n", "ended by the system"},
		"it exits 0 without a line":       {"#!/bin/sh\n" + harness.AnswersVersion + "exit 0\n", "without submitting a result"},
		"it prints what no CLI would":     {"#!/bin/sh\n" + harness.AnswersVersion + "echo hello; exit 3\n", "exit code 3"},
		"its file is no program any more": {"\x7fELF nonsense", "Exec format error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFarm(t)
			bad := program(t, c.script)
			n := f.start(bad, false, func(o *runner.Options) { o.Dir = t.TempDir() })
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

// A CLI that prints nothing but calls back works.
func TestACLIThatOnlyCallsBackHasStarted(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	n := f.start(f.silentClaude("", "until [ -e called ]; do sleep 0.02; done\n"), false, nil)
	for range 4 {
		id := f.create("poem", map[string]any{})
		begun := f.begun()
		f.eventually("Claude to begin", func() bool { return f.begun() > begun })
		facts, _, _, err := f.store.Header(t.Context(), id)
		must.OK(t, err)
		must.Get(f.store.Progress(t.Context(), id, facts, []byte(`{"message":"x"}`), "digest-00001"))(t)
		dir := must.Get(n.MakeWorkDir(id))(t)
		must.OK(t, os.WriteFile(filepath.Join(dir, "called"), nil, 0o600))
		f.eventually("the attempt to count", func() bool { return f.get(id).Attempt == 1 })
		must.OK(t, f.jobs.Cancel(t.Context(), id, job.Actor{}))
		must.OK(t, n.Problem())
	}
}

// A job whose turn cannot start anywhere fails after its attempts, and does not block a node on which others
// start.
func TestAJobThatNeverStartsBlocksNoNode(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	n := f.start(f.silentClaude("", "case $(cat) in *poison*) echo 'bad prompt' >&2; exit 1;; esac\n"+beginning+"sleep 0.1\n"), false, nil)
	id := f.create("poem", map[string]any{"prompt": "poison"})
	f.eventually("the job to fail", func() bool {
		f.create("poem", map[string]any{"prompt": "x"}) // others start in between
		must.OK(t, n.Problem())
		return f.get(id).State.Terminal()
	})
	if j := f.get(id); j.State != job.Failed || j.Attempt != j.MaxAttempts || !strings.Contains(j.Error, "bad prompt") {
		t.Errorf("the job is %s after %d attempts: %s", j.State, j.Attempt, j.Error)
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
