package code

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// gatedChange is a kind whose verifier waits at a gate, so that the turn of a simulated
// Claude lasts until the test opens it.
func gatedChange(t *testing.T, gate string) vars {
	t.Helper()
	dir := t.TempDir()
	rig.WriteFiles(t, dir, map[string]string{
		"prompts/gated.md":          "---\nworkspace: {}\nreview: true\nverifiers: [{gate: 'touch " + gate + ".reached; while [ ! -e " + gate + " ]; do sleep 0.02; done'}]\n---\nChange it.\n",
		"schemas/gated.result.json": `{"type": "object", "required": ["summary"], "properties": {"summary": {"type": "string"}}}`,
	})
	return vars{
		"DATA_DIR": t.TempDir(), "NODE_TIMEOUT": "1s", "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t),
		"PROMPTS_DIR": filepath.Join(dir, "prompts"), "SCHEMAS_DIR": filepath.Join(dir, "schemas"),
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// steered returns the prompts of a job's steers, and the lines that the simulated Claude
// has written: one for each round.
func steered(t *testing.T, n *rig.Node, id string) (prompts []string, lines []string) {
	t.Helper()
	history, _ := n.Want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)["history"].([]any)
	for _, round := range history {
		prompts = append(prompts, round.(object)["prompt"].(string))
	}
	for _, diff := range list(t, n, "/api/jobs/"+id+"/diff") {
		for line := range strings.Lines(diff["files"].([]any)[0].(object)["diff"].(string)) {
			if text, ok := strings.CutPrefix(line, "+- "); ok {
				lines = append(lines, strings.TrimSpace(text))
			}
		}
	}
	return prompts, lines
}

// Several steers while a turn runs: each is one round, in the order of arrival, even if the
// server is killed repeatedly.
func TestQueuedSteersAreDoneOnceEach(t *testing.T) {
	t.Parallel()
	for name, kills := range sample.Cases(t, 1, map[string][]time.Duration{
		"undisturbed": nil,
		"killed":      {0, 15 * time.Millisecond, 40 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 600 * time.Millisecond},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := filepath.Join(t.TempDir(), "gate")
			n := rig.Start(t, gatedChange(t, gate))
			id := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
			must.Eventually(t, "the verifier to run", func() bool { return exists(gate + ".reached") })
			wishes := []string{"first", "second", "third"}
			for _, prompt := range wishes {
				n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": prompt})
			}
			if queued := n.Want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)["queued"]; !cmp.Equal([]any{"first", "second", "third"}, queued) {
				t.Errorf("queued are %v", queued)
			}
			rig.OpenGate(t, gate)
			for _, after := range kills {
				time.Sleep(after) // the kill may come at any point
				n = n.Again(t)
			}
			must.Eventually(t, "the last round's review", func() bool {
				j := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)
				prompts, _ := steered(t, n, id)
				return len(prompts) >= len(wishes) && j["status"] == "awaiting_approval"
			})
			prompts, lines := steered(t, n, id)
			lines = slices.Compact(lines) // a turn whose process was lost is repeated
			must.Equal(t, wishes, prompts, "the rounds")
			must.Equal(t, append([]string{"begin"}, wishes...), lines, "what Claude did")
			if state := n.Want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil); state["queued"] != nil {
				t.Errorf("still queued are %v", state["queued"])
			}
			n.Approve(t, id)
			n.Await(t, id, "received")
		})
	}
}

// A steer that arrives exactly when the review opens is a separate round, too, and none is
// accepted for a change that was approved.
func TestSteersAtEveryMoment(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	gate := filepath.Join(t.TempDir(), "gate")
	env := gatedChange(t, gate)
	n := rig.Start(t, env)
	id := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{
		"prompt": "begin", "max_steering_iterations": 30, "repos": []any{object{"url": rig.GoRepository(t, "service")}},
	}})
	must.Eventually(t, "the verifier to run", func() bool { return exists(gate + ".reached") })
	rig.OpenGate(t, gate)
	var want []string
	for i := range 12 {
		prompt := "wish " + string(rune('a'+i))
		n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": prompt})
		want = append(want, prompt)
		time.Sleep(time.Duration(i) * 7 * time.Millisecond) // arrive at different moments
	}
	for round := range want { // each is slow on a busy machine
		must.Eventually(t, "the next round", func() bool {
			history, _ := n.Want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)["history"].([]any)
			return len(history) > round
		})
	}
	n.Await(t, id, "awaiting_approval")
	if prompts, _ := steered(t, n, id); !cmp.Equal(want, prompts) {
		t.Errorf("the rounds are %v", prompts)
	}
	must.OK(t, os.Remove(gate))
	n.Approve(t, id)
	status, answer := n.Do(t, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "too late"})
	must.Equal(t, 409, status, "a steer after the approval was answered", answer)
	n.Await(t, id, "received")
}

// A slow verifier does not occupy the only worker.
func TestAVerifierTakesNoWorker(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	env := gatedChange(t, gate)
	env["WORKERS"] = "1"
	n := rig.Start(t, env)
	change := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
	must.Eventually(t, "the verifier to run", func() bool { return exists(gate + ".reached") })
	n.Await(t, n.Create(t, object{"userId": "u2"}), "received")
	rig.OpenGate(t, gate)
	n.OpenCheckpoint(t, change, "awaiting_approval")
}
