package runner

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/sandbox/door"
	"ringback/internal/sandbox/process"
	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/sample"
)

// trialRunner returns a runner that makes trial starts of a CLI.
func trialRunner(t *testing.T, bin string, environ []string, sandbox process.Sandbox) *Runner {
	t.Helper()
	r := must.Get(New(nil, nil, nil, Options{
		ClaudeBin: bin, Environ: environ, Dir: t.TempDir(), Workers: 1, Sandbox: sandbox, CallbackBaseURL: "http://127.0.0.1:1",
		CheckFunc: func() error { return nil }, Doors: door.Doors{CallbackFunc: func(net.Listener, job.ID) {}},
	}, slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(r.nodeDir.release)
	return r
}

// silence is an address that counts who connects.
func silence(t *testing.T) (address string, callers *atomic.Int64) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	callers = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			callers.Add(1)
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String(), callers
}

// The real CLI passes a trial start, however it signs in, and calls nobody: neither the model's API nor
// whoever renews a login. Nothing is left of it.
func TestATrialStartOfTheRealCLI(t *testing.T) {
	t.Parallel()
	bin := messagesapi.FindCLI(t)
	confined, err := process.FindSandbox(t.Context(), process.SandboxOptions{Home: "/root", Path: os.Getenv("PATH")})
	if err != nil {
		t.Log("without a sandbox:", err)
	}
	const login = `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-x","refreshToken":"sk-ant-ort01-x","expiresAt":1000,"scopes":["user:inference"],"subscriptionType":"max"}}`
	for name, c := range sample.Cases(t, 2, map[string]struct {
		environ  []string // API is the address
		settings string
		login    string
	}{
		"it is not signed in":                  {},
		"it has a key":                         {environ: []string{"ANTHROPIC_API_KEY=sk-x", "ANTHROPIC_BASE_URL=API"}},
		"it has a key for Anthropic's address": {environ: []string{"ANTHROPIC_API_KEY=sk-x", "HTTPS_PROXY=API"}},
		"its user's settings name the address": {settings: `{"env":{"ANTHROPIC_API_KEY":"sk-x","ANTHROPIC_BASE_URL":"API","HTTPS_PROXY":"API"}}`},
		"its user's login has expired":         {environ: []string{"HTTPS_PROXY=API"}, login: login},
		"it uses a cloud":                      {environ: []string{"CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x", "ANTHROPIC_BEDROCK_BASE_URL=API", "HTTPS_PROXY=API"}},
	}) {
		for place, sandbox := range map[string]process.Sandbox{"": {}, ", in a sandbox": confined} {
			t.Run(name+place, func(t *testing.T) {
				t.Parallel()
				address, callers := silence(t)
				home := t.TempDir()
				must.OK(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
				for file, text := range map[string]string{"settings.json": c.settings, ".credentials.json": c.login} {
					if text != "" {
						must.OK(t, os.WriteFile(filepath.Join(home, ".claude", file), []byte(strings.ReplaceAll(text, "API", address)), 0o600))
					}
				}
				environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
				for _, entry := range c.environ {
					environ = append(environ, strings.ReplaceAll(entry, "API", address))
				}
				r := trialRunner(t, bin, environ, sandbox)
				must.OK(t, r.startOnTrial(t.Context(), false))
				must.Equal(t, 0, callers.Load(), "requests")
				must.Equal(t, 0, len(process.Marked(func(m string) bool { return m == r.nodeDir.marker(r.nodeDir.trialID(false), 1) })), "processes left")
				for _, left := range []string{"nodes/0/jobs/*", "conversations/*"} {
					must.Equal(t, 0, len(must.Get(filepath.Glob(filepath.Join(r.opts.Dir, left)))(t)), left)
				}
			})
		}
	}
}

// A trial start fails, and says why, if turn could not start for a reason that is its node's.
func TestATrialStartOnABadNode(t *testing.T) {
	t.Parallel()
	const ok = `echo '{"type":"system","subtype":"init"}'; sleep 1000`
	inPlaceOf := func(name string) func(*testing.T, *Runner) {
		return func(t *testing.T, r *Runner) {
			must.OK(t, os.RemoveAll(filepath.Join(r.opts.Dir, name)))
			must.OK(t, os.WriteFile(filepath.Join(r.opts.Dir, name), nil, 0o600))
		}
	}
	gone := func(name string) func(*testing.T, *Runner) {
		return func(t *testing.T, r *Runner) { must.OK(t, os.RemoveAll(filepath.Join(r.opts.Dir, name))) }
	}
	for name, c := range map[string]struct {
		program string
		happen  func(*testing.T, *Runner)
		says    string // "" if the trial start succeeds
	}{
		"nothing is wrong":                  {"#!/bin/sh\n" + ok, nil, ""},
		"its last line has no end":          {"#!/bin/sh\nprintf '{\"type\":\"system\"}'", nil, ""},
		"its interpreter is missing":        {"#!/usr/bin/env no-such-interpreter\n", nil, "exit code 127"},
		"it is for another architecture":    {"\x7fELF nonsense", nil, "Exec format error"},
		"it is no program":                  {"#!/no/such/shell\n", nil, "exit code 127"},
		"its home is not accessible":        {"#!/bin/sh\necho 'EACCES: mkdir /root/.claude' >&2; exit 1\n", nil, "EACCES"},
		"it is killed by a signal":          {"#!/bin/sh\nkill -SEGV $$\n", nil, "killed by the system"},
		"it exits 0 without a line":         {"#!/bin/sh\n", nil, "without printing a line"},
		"it prints what no CLI would":       {"#!/bin/sh\necho hello; exit 3\n", nil, "exit code 3"},
		"it prints nothing and hangs":       {"#!/bin/sh\nsleep 1000\n", nil, "printed nothing within"},
		"its directory of jobs is gone":     {"#!/bin/sh\n" + ok, gone("nodes/0/jobs"), ""},
		"the conversations are gone":        {"#!/bin/sh\n" + ok, gone("conversations"), ""},
		"the data directory is gone":        {"#!/bin/sh\n" + ok, gone("."), ""},
		"a file is in place of the jobs":    {"#!/bin/sh\n" + ok, inPlaceOf("nodes/0/jobs"), "not a directory"},
		"a file is in place of their texts": {"#!/bin/sh\n" + ok, inPlaceOf("conversations"), "not a directory"},
		"it has been removed":               {"#!/bin/sh\n" + ok, func(t *testing.T, r *Runner) { must.OK(t, os.Remove(r.opts.ClaudeBin)) }, "no such file"},
		"it may not be executed any more":   {"#!/bin/sh\n" + ok, func(t *testing.T, r *Runner) { must.OK(t, os.Chmod(r.opts.ClaudeBin, 0o600)) }, "it is not executable"},
		"it was replaced by a directory": {"#!/bin/sh\n" + ok, func(t *testing.T, r *Runner) {
			must.OK(t, os.Remove(r.opts.ClaudeBin))
			must.OK(t, os.Mkdir(r.opts.ClaudeBin, 0o700))
		}, "could not be started"},
		"a trial before it left its remains": {"#!/bin/sh\n" + ok, func(t *testing.T, r *Runner) {
			must.OK(t, os.MkdirAll(filepath.Join(r.nodeDir.jobDir(r.nodeDir.trialID(false)), "x"), 0o700))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := filepath.Join(t.TempDir(), "claude")
			harness.WriteProgram(t, bin, c.program)
			r := trialRunner(t, bin, os.Environ(), process.Sandbox{})
			r.ability.trialTime = 10 * time.Second
			if c.happen != nil {
				c.happen(t, r)
			}
			err := r.startOnTrial(t.Context(), false)
			if c.says == "" {
				must.OK(t, err)
			} else {
				must.Fail(t, err, c.says)
			}
		})
	}
}

// All trial starts of the CLI on a node have the same marker, and the simulated Claude's have another one: what ends one
// does not end the next, nor one that runs at the same time.
func TestTrialStartsDoNotEndEachOther(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, bin, []byte("#!/bin/sh\nsleep 0.3\necho '{\"type\":\"system\",\"subtype\":\"init\"}'; sleep 1000\n"))
	r := trialRunner(t, bin, os.Environ(), process.Sandbox{})
	r.opts.Simulator = bin
	go r.sweeper.Run(t.Context())
	for range 3 {
		simulated := make(chan error, 1)
		go func() { simulated <- r.startOnTrial(t.Context(), true) }()
		must.OK(t, r.startOnTrial(t.Context(), false))
		must.OK(t, <-simulated)
	}
}

// A node on which simulated jobs cannot start runs the others.
func TestASimulatedTrialStartThatFails(t *testing.T) {
	t.Parallel()
	for name, simulates := range map[string]bool{"on a node with the CLI": false, "on a node without one": true} {
		r := trialRunner(t, "/bin/true", os.Environ(), process.Sandbox{})
		r.opts.Simulator, r.ability.simulates = "/bin/false", simulates
		ctx, stop := context.WithCancel(t.Context())
		must.Fail(t, r.ability.try(ctx, true), "exit code 1")
		must.Equal(t, simulates, r.Problem() != nil, name+", it takes no jobs")
		stop()
	}
}
