package jobs

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// Only bubblewrap and a shell run between the server and the CLI of a turn: each start of
// the server's own binary would take longer than both.
func TestATurnIsStartedByNothingSlow(t *testing.T) {
	t.Parallel()
	cli := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, cli, "#!/bin/sh\n"+harness.AnswersVersion+"exec tail -f /dev/null\n")
	for sandbox, want := range map[string][]string{"require": {"bwrap", "sh", "tail"}, "off": {"tail"}} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			n := rig.Start(t, vars{"CLAUDE_BIN": cli, "SANDBOX": sandbox})
			id := n.Create(t, object{"userId": "u1"})
			var started []string
			must.Eventually(t, "the CLI to be there", func() bool {
				started = programsBelow(n.Cmd.Process.Pid, "redis-server")
				return slices.Contains(started, "tail")
			})
			if !slices.Equal(started, want) {
				t.Errorf("the turn has started %v, want %v", started, want)
			}
			n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
		})
	}
}

// programsBelow returns the programs of a process's descendants, except those with one
// name.
func programsBelow(pid int, but string) (found []string) {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(text)) {
			number, _ := strconv.Atoi(child)
			name, _ := os.ReadFile("/proc/" + child + "/comm")
			if program := strings.TrimSpace(string(name)); program != but {
				found = append(append(found, program), programsBelow(number, but)...)
			}
		}
	}
	return found
}
