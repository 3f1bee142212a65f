package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
)

// BenchmarkFirstRequest measures how long it takes from the creation of a job to the real CLI's
// first request to the model, and for comparison how long the CLI takes by hand, with the
// arguments, the settings, the prompt and the environment that it was given for a job. They
// alternate.
func BenchmarkFirstRequest(b *testing.B) {
	for _, sandbox := range []string{"off", "require"} {
		b.Run("sandbox="+sandbox, func(b *testing.B) { measureFirstRequest(b, sandbox) })
	}
}

func measureFirstRequest(b *testing.B, sandbox string) {
	b.Helper()
	requests := make(chan time.Time, 100)
	script := func(messagesapi.Request) messagesapi.Reply {
		requests <- time.Now()
		return messagesapi.Say("Nothing more.")
	}
	dir := b.TempDir()
	recorder := recordCLI(b, dir)
	job := func(n *rig.Node) time.Duration {
		created := time.Now()
		id := n.Create(b, object{"userId": "u1"})
		took := (<-requests).Sub(created)
		n.Want(b, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
		must.Eventually(b, "the turn to end", func() bool { return n.Metric(b, "ringback_running_turns") == 0 })
		drain(requests)
		return took
	}
	recorded, recordedAPI := rig.RealClaude(b, vars{"CLAUDE_BIN": recorder, "SANDBOX": "off"}, script)
	job(recorded)
	byHand := func() time.Duration {
		cmd := exec.Command(messagesapi.FindCLI(b), argsOf(b, dir)...)
		cmd.Env = append(recordedList(b, filepath.Join(dir, "env")), "ANTHROPIC_BASE_URL="+recordedAPI.URL)
		cmd.Stdin, cmd.Dir = bytes.NewReader(must.Get(os.ReadFile(filepath.Join(dir, "stdin")))(b)), dir
		started := time.Now()
		must.OK(b, cmd.Start())
		took := (<-requests).Sub(started)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		drain(requests)
		return took
	}
	n, _ := rig.RealClaude(b, vars{"SANDBOX": sandbox}, script)
	job(n)
	byHand()
	var ours, hand []time.Duration
	for b.Loop() {
		ours, hand = append(ours, job(n)), append(hand, byHand())
	}
	slices.Sort(ours)
	slices.Sort(hand)
	b.ReportMetric(ours[len(ours)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(hand[len(hand)/2].Seconds()*1000, "by-hand-p50-ms")
}

// recordCLI returns the path of a program that runs the real CLI and leaves in dir what it was given.
func recordCLI(b *testing.B, dir string) (path string) {
	b.Helper()
	path = filepath.Join(dir, "recorder")
	text := fmt.Sprintf(`#!/bin/sh
[ "$1" = --version ] && exec %[1]s --version
cat > %[2]s/stdin; printf '%%s\0' "$@" > %[2]s/args; env -0 > %[2]s/env
for arg in "$@"; do [ "$before" = --settings ] && cp "$arg" %[2]s/settings.json; before=$arg; done
exec %[1]s "$@" < %[2]s/stdin
`, messagesapi.FindCLI(b), dir)
	must.OK(b, os.WriteFile(path, []byte(text), 0o755))
	return path
}

func drain(requests chan time.Time) {
	for len(requests) > 0 {
		<-requests
	}
}

// argsOf returns the recorded arguments, with a conversation of their own.
func argsOf(b *testing.B, dir string) []string {
	b.Helper()
	args := recordedList(b, filepath.Join(dir, "args"))
	for i, arg := range args {
		switch arg {
		case "--session-id":
			args[i+1] = uuid.NewString()
		case "--settings":
			args[i+1] = filepath.Join(dir, "settings.json")
		}
	}
	return args
}

// recordedList reads strings that end in NUL.
func recordedList(b *testing.B, file string) []string {
	b.Helper()
	return strings.Split(strings.TrimSuffix(string(must.Get(os.ReadFile(file))(b)), "\x00"), "\x00")
}
