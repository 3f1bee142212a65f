package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ringback/internal/sandbox/process"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

func TestGitIsTried(t *testing.T) {
	t.Parallel()
	confined, err := process.FindSandbox(t.Context(), process.SandboxOptions{Home: "/root", Path: os.Getenv("PATH")})
	if err != nil {
		t.Log("without a sandbox:", err)
	}
	for name, sandbox := range map[string]process.Sandbox{"without a sandbox": {}, "in a sandbox": confined} {
		root := workspace.Root{Dir: t.TempDir(), Environ: os.Environ(), Sandbox: sandbox}
		must.OK(t, root.Try(t.Context()), name)
		ended, end := context.WithCancel(t.Context())
		end()
		must.Fail(t, root.Try(ended), "canceled", name, "and it does not end in time")
	}
}

// A file system of the machine that goes while bubblewrap makes the mounts of a sandbox is no failure of git's.
func TestGitIsRepeatedIfBubblewrapDidNotStartIt(t *testing.T) {
	real := must.Get(exec.LookPath("bwrap"))(t)
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "bwrap"), []byte(
		"#!/bin/sh\nif rm \"$0.fails\" 2>/dev/null; then echo \"bwrap: Can't bind mount\" >&2; exit 1; fi\nexec "+real+" \"$@\"\n",
	), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	root := workspace.Root{Dir: t.TempDir(), Environ: os.Environ(), Sandbox: sandbox(t, t.TempDir())}
	must.OK(t, os.WriteFile(filepath.Join(dir, "bwrap.fails"), nil, 0o600))
	must.OK(t, root.Try(t.Context()))
	_, err := os.Stat(filepath.Join(dir, "bwrap.fails"))
	must.Equal(t, true, errors.Is(err, fs.ErrNotExist), "bubblewrap failed once")
}
