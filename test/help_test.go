package test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// onOwn runs ringback in a new directory, with empty standard input, and returns its output
// and the files it left.
func onOwn(t *testing.T, env vars, args ...string) (code int, out string, files []string) {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

// subcommands returns all commands in the help.
func subcommands(t *testing.T) []string {
	t.Helper()
	_, help, _ := onOwn(t, nil, "--help")
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  (\S+)`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if !slices.Contains(names, "simulate") || len(names) < 15 {
		t.Fatalf("the help lists %q", names)
	}
	return names
}

func TestAskingForHelpDoesNothingElse(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Of(t, 15, subcommands(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{{name, "--help"}, {name, "-h"}, {"help", name}} {
				begin := time.Now()
				code, out, files := onOwn(t, nil, args...)
				if code != 0 || !strings.Contains(out, "Usage:") || len(files) > 0 {
					t.Errorf("%q: exit code %d, files %q, took %s, says %s", args, code, files, time.Since(begin), out)
				}
			}
			code, out, files := onOwn(t, nil, name, "--no-such-flag")
			if name == "help" {
				return
			}
			if code != 2 || !strings.Contains(out, "--help") || len(files) > 0 {
				t.Errorf("an unknown flag: exit code %d, files %q, says %s", code, files, out)
			}
		})
	}
}

// A service or a cron job may have no home directory: commands work without one.
func TestCommandsNeedNoHome(t *testing.T) {
	t.Parallel()
	env := vars{"HOME": "", "XDG_CONFIG_HOME": "", "RINGBACK_URL": ""}
	for _, args := range [][]string{{"list", "--limit", "1"}, {"context"}} {
		if _, out, _ := onOwn(t, env, args...); strings.Contains(out, "$HOME") {
			t.Errorf("ringback %s: %s", strings.Join(args, " "), out)
		}
	}
	if code, out, _ := onOwn(t, env, "context", "set", "prod", "--server", "https://jobs.example.com"); code == 0 || !strings.Contains(out, "$HOME") {
		t.Errorf("a context that cannot be kept: %d %s", code, out)
	}
}
