package code

import (
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"

	"github.com/google/go-cmp/cmp"
)

// phases returns the phases in a job's events, in order, with the last part of the events'
// names.
func phases(t *testing.T, n *rig.Node, id string) []string {
	t.Helper()
	var told []string
	for _, e := range n.StoredEvents(t, id, "") {
		data := e["data"].(object)
		if phase, some := data["phase"].(string); some && phase != "waiting_for_exit" { // too short to be seen reliably
			name := e["event"].(string)
			told = append(told, name[strings.LastIndexByte(name, ':')+1:]+" "+phase)
		}
	}
	return told
}

// The phases of a code change are shown in the record, in lists, in events and on the
// command line, even if its server dies.
func TestPhasesOfACodeChangeAreSeen(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	n := rig.Start(t, gatedChange(t, gate))
	id := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
	must.Eventually(t, "the verifier to run", func() bool { return exists(gate + ".reached") })
	must.Equal(t, "verifying", n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["phase"], "the verifier runs, and the phase is")
	before := len(phases(t, n, id))
	n = n.Again(t)
	must.Eventually(t, "the verifier to run again", func() bool {
		told := phases(t, n, id)
		return len(told) > before && told[len(told)-1] == "running verifying"
	})
	if listed := n.Want(t, 200, "GET", "/api/jobs?fields=phase", nil)["jobs"].([]any)[0]; cmp.Diff(object{"phase": "verifying"}, listed) != "" {
		t.Errorf("listed is %v", listed)
	}
	cli := rig.CommandLine(t, n)
	must.Contain(t, cli("status", id), "Doing:  verifying\n", "status")
	if said := cli("list"); !strings.HasSuffix(strings.TrimSpace(said), "\tverifying") {
		t.Errorf("list says %s", said)
	}
	rig.OpenGate(t, gate)
	if j := n.Await(t, id, "awaiting_approval"); j["phase"] != nil {
		t.Errorf("a parked job is in phase %v", j["phase"])
	}
	n.Approve(t, id)
	if j := n.Await(t, id, "received"); j["phase"] != nil {
		t.Errorf("a job that has ended is in phase %v", j["phase"])
	}
	want := []string{
		"pending queued", "running preparing", "running claude", "running capturing", "running verifying",
		"running capturing", "running verifying", // repeated
		"pending queued", "running preparing", "running publishing",
	}
	must.Equal(t, want, phases(t, n, id), "the events' phases")
}
