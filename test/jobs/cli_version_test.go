package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// The record contains the version of the CLI that ran each turn. It comes from the program,
// which is asked once, not from the output of a turn.
func TestTheRecordSaysWhichCLIRanEachTurn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cli := filepath.Join(dir, "claude")
	install := func(version string) {
		harness.WriteProgram(t, cli, `#!/bin/sh
[ "$1" = --version ] && { echo >> `+dir+`/asked; echo '`+version+` (Claude Code)'; exit; }
cat > /dev/null
echo '{"type":"system","subtype":"init","claude_code_version":"9.9.9"}'
`)
	}
	install("1.0.9")
	n := rig.Start(t, vars{"CLAUDE_BIN": cli, "RETRY_BACKOFF": "1ms", "PROMPTS_DIR": rig.KindsDir(t, "quick.md", "---\nmax_attempts: 2\n---\nBe quick.")})
	id := n.Create(t, object{"kind": "quick", "input": object{}, "userId": "u1"})
	n.Await(t, id, "failed")
	install("1.0.10")
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/retry", nil)
	record := n.Await(t, id, "failed")
	want := []any{object{"fromTurn": 1.0, "version": "1.0.9"}, object{"fromTurn": 3.0, "version": "1.0.10"}}
	must.Equal(t, any(want), record["cliVersions"])
	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || strings.Count(string(asked), "\n") != 2 {
		t.Errorf("the programs were asked %d times: %v", strings.Count(string(asked), "\n"), err)
	}
	must.Contain(t, rig.CommandLine(t, n)("status", id), "1.0.9 (from turn 1), 1.0.10 (from turn 3)", "the status is")
	simulated := n.Create(t, object{"userId": "u1", "options": object{"simulate": "success"}})
	record = n.Await(t, simulated, "received")
	must.Equal(t, any([]any{object{"fromTurn": 1.0, "version": "simulated"}}), record["cliVersions"])
}

// A CLI that does not report its version works nevertheless.
func TestACLIWithoutAVersionRuns(t *testing.T) {
	t.Parallel()
	cli := filepath.Join(t.TempDir(), "claude")
	harness.WriteProgram(t, cli, "#!/bin/sh\n"+begins+"exit 3\n")
	n := rig.Start(t, vars{"CLAUDE_BIN": cli, "RETRY_BACKOFF": "1ms", "PROMPTS_DIR": rig.KindsDir(t, "quick.md", "---\nmax_attempts: 1\n---\nBe quick.")})
	id := n.Create(t, object{"kind": "quick", "input": object{}, "userId": "u1"})
	record := n.Await(t, id, "failed")
	must.Equal(t, any([]any{object{"fromTurn": 1.0, "version": "unknown"}}), record["cliVersions"])
}
