package rig

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// Script writes an executable that plays the CLI.
func Script(t testing.TB, body string) string {
	t.Helper()
	return Program(t, harness.AnswersVersion+harness.AnswersTrial+body)
}

// Program writes an executable.
func Program(t testing.TB, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, file, "#!/bin/bash\n"+body)
	return file
}

// paths contains the directories of PathWithout, by what they lack. They contain some
// thousand links each, so tests share them.
var paths = struct {
	sync.Mutex
	made map[string]string
}{made: map[string]string{}}

// PathWithout returns a PATH that lacks some commands. Tests may not write to it.
func PathWithout(t testing.TB, missing ...string) string {
	t.Helper()
	paths.Lock()
	defer paths.Unlock()
	name := strings.Join(missing, " ")
	if paths.made[name] != "" {
		return paths.made[name]
	}
	dir, err := os.MkdirTemp("", "path") //nolint:usetesting // it outlives the test
	if err == nil {
		err = os.Chmod(dir, 0o755) // other users run what is in it
	}
	must.OK(t, err)
	paths.made[name] = dir
	for _, place := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(place)
		for _, e := range entries {
			if !slices.Contains(missing, e.Name()) {
				_ = os.Symlink(filepath.Join(place, e.Name()), filepath.Join(dir, e.Name()))
			}
		}
	}
	return dir
}

// PatientCLI waits for a file and then posts the result, with the prompt's curl, which
// retries while no server responds. It records each start, and its signature before that.
func PatientCLI(t testing.TB, dir string) string {
	t.Helper()
	return Script(t, harness.CallsBack+`
value HMAC_SIGNATURE >> `+dir+`/signatures
echo "$@" >> `+dir+`/starts
while [ ! -e `+dir+`/go ]; do sleep 0.05; done
post suggestions '"reasoning":"Because.","suggestions":[{"date":"2026-03-02","mealType":"dinner","recipe":{"name":"Soup"}}]'
`)
}

func Release(t testing.TB, dir string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
}

// Ringback runs ringback in a new directory, with empty standard input, and returns its output
// and the files it left.
func Ringback(t *testing.T, env harness.Vars, args ...string) (code int, out string, files []string) {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Binary(), args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "RINGBACK_URL=http://127.0.0.1:1"}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("ringback %s did not end: %s", strings.Join(args, " "), both.String())
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		files = append(files, e.Name())
	}
	return cmd.ProcessState.ExitCode(), both.String(), files
}

// CommandLine runs the client commands as one user would, one after the other.
func CommandLine(t *testing.T, n *Node) func(args ...string) string {
	t.Helper()
	home := t.TempDir()
	return func(args ...string) string {
		t.Helper()
		cmd := exec.Command(harness.Binary(), args...)
		cmd.Env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "PATH=" + os.Getenv("PATH"), "RINGBACK_URL=" + n.URL, "RINGBACK_USER=u1"}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
}
