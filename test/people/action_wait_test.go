package people

import (
	"testing"

	"ringback/test/harness"
	"ringback/test/rig"
)

// While an action of the server runs, its turn does not count as hanging, however long its
// tool call waits.
func TestATurnThatWaitsForAnActionDoesNotHang(t *testing.T) {
	t.Parallel()
	env := rig.OwnKind(t, "slow", `---
stall_timeout: 5s
tool_timeout: 5s
actions:
  - name: build
    confirm: never
    command: [sh, -c, 'sleep 9']
---
Build.`, "")
	env["CLAUDE_BIN"] = rig.Script(t, harness.CallsBack+`
echo '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"curl"}}]}}'
post actions/build '"input":{}'
echo '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}'
post result '"done":true'
`)
	n := rig.Start(t, env)
	id := n.Create(t, object{"kind": "slow", "input": object{}, "userId": "u1"})
	if record := n.Await(t, id, "received"); record["turn"] != 1.0 || record["lastFailure"] != nil {
		t.Errorf("it took %v turns, the last failure is %v", record["turn"], record["lastFailure"])
	}
}
