package machines

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

// breakage prevents a node from running turns. The node must be started with env; says is
// what it then reports.
type breakage struct {
	env            vars
	says           string
	happen, repair func()
}

// breakages returns ways in which a node loses what its turns need.
func breakages(t *testing.T) map[string]breakage {
	t.Helper()
	readyCLI := func() string {
		dir := t.TempDir()
		rig.Release(t, dir)
		return rig.PatientCLI(t, dir)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	lost, locked := readyCLI(), readyCLI()
	all := map[string]breakage{
		"the CLI is gone":        {vars{"CLAUDE_BIN": lost}, "CLAUDE_BIN", func() { must(os.Rename(lost, lost+".away")) }, func() { must(os.Rename(lost+".away", lost)) }},
		"the CLI may not be run": {vars{"CLAUDE_BIN": locked}, "CLAUDE_BIN", func() { must(os.Chmod(locked, 0o600)) }, func() { must(os.Chmod(locked, 0o700)) }},
	}
	disk := t.TempDir()
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=2000", "tmpfs", disk).Run() != nil {
		return all // these require root
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	ballast := filepath.Join(disk, "ballast")
	all["disk full"] = breakage{
		vars{"CLAUDE_BIN": readyCLI(), "DATA_DIR": filepath.Join(disk, "data")},
		"no space is left there",
		func() { _ = os.WriteFile(ballast, make([]byte, 16<<20), 0o600) }, func() { must(os.Remove(ballast)) },
	}
	return all
}

// A problem with a node costs no job an attempt: the node reports it and takes no jobs, and
// other nodes run them.
func TestANodeThatCannotRunTurnsLeavesTheJobsToOthers(t *testing.T) {
	t.Parallel()
	for name, b := range breakages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := rig.StartRedis(t).URL
			b.env["REDIS_URL"] = redis
			broken := rig.Start(t, b.env)
			b.happen()
			var ids []string
			for range 6 {
				ids = append(ids, broken.Create(t, object{"userId": "u1"}))
			}
			must.Eventually(t, "the node to say what is wrong", func() bool {
				status, answer := broken.Ready(t)
				return status == 503 && strings.Contains(fmt.Sprint(answer), b.says) && strings.Contains(broken.Log.String(), "node unfit: not taking jobs") && broken.Metric(t, "ringback_turns_blocked") == 1
			})
			must.Contain(t, rig.CommandLine(t, broken)("doctor"), "The server is not ready: No turn can start here: ", "ringback doctor")
			must.Contain(t, broken.Respond(t, "GET", "/", nil, "Accept", "text/html").Text, "No turn can start here: ", "the console")
			for _, id := range ids { // some may be on their way back at that moment
				untried(t, broken.Await(t, id, "pending"))
			}
			healthy := rig.Start(t, vars{"REDIS_URL": redis, "CLAUDE_BIN": "simulate"})
			for _, id := range ids {
				untried(t, broken.Await(t, id, "received"))
			}
			healthy.Stop(t, syscall.SIGTERM)
			later := broken.Create(t, object{"userId": "u1"})
			b.repair()
			broken.Await(t, later, "received")
			must.Eventually(t, "the node to be ready", func() bool { status, _ := broken.Ready(t); return status == 200 })
		})
	}
}

// untried fails the test if a job has had an attempt.
func untried(t *testing.T, record object) {
	t.Helper()
	if record["attempt"] != nil {
		t.Errorf("it cost an attempt: %v", record)
	}
}
