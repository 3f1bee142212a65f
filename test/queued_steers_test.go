package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/test/must"
	"ringback/test/sample"
)

// gatedChange is a kind whose verifier waits at a gate, so that the turn of a simulated
// Claude lasts until the test opens it.
func gatedChange(t *testing.T, gate string) vars {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"prompts/gated.md":          "---\nworkspace: {}\nreview: true\nverifiers: [{gate: 'touch " + gate + ".reached; while [ ! -e " + gate + " ]; do sleep 0.02; done'}]\n---\nChange it.\n",
		"schemas/gated.result.json": `{"type": "object", "required": ["summary"], "properties": {"summary": {"type": "string"}}}`,
	})
	return vars{
		"DATA_DIR": t.TempDir(), "NODE_TIMEOUT": "1s", "LISTEN_ADDR": "127.0.0.1:" + freePort(t),
		"PROMPTS_DIR": filepath.Join(dir, "prompts"), "SCHEMAS_DIR": filepath.Join(dir, "schemas"),
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func open(t *testing.T, gate string) {
	t.Helper()
	must.OK(t, os.WriteFile(gate, nil, 0o600))
}

// steered returns the prompts of a job's steers, and the lines that the simulated Claude
// has written: one for each round.
func steered(t *testing.T, n *node, id string) (prompts []string, lines []string) {
	t.Helper()
	history, _ := n.want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)["history"].([]any)
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
			n := startNode(t, gatedChange(t, gate))
			id := n.create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": goRepository(t, "service")}}}})
			eventually(t, "the verifier to run", func() bool { return exists(gate + ".reached") })
			wishes := []string{"first", "second", "third"}
			for _, prompt := range wishes {
				n.want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": prompt})
			}
			if queued := n.want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)["queued"]; !cmp.Equal([]any{"first", "second", "third"}, queued) {
				t.Errorf("queued are %v", queued)
			}
			open(t, gate)
			for _, after := range kills {
				time.Sleep(after) // the kill may come at any point
				n = n.again(t)
			}
			eventually(t, "the last round's review", func() bool {
				j := n.want(t, 200, "GET", "/api/jobs/"+id, nil)
				prompts, _ := steered(t, n, id)
				return len(prompts) >= len(wishes) && j["status"] == "awaiting_approval"
			})
			prompts, lines := steered(t, n, id)
			lines = slices.Compact(lines) // a turn whose process was lost is repeated
			must.Equal(t, wishes, prompts, "the rounds")
			must.Equal(t, append([]string{"begin"}, wishes...), lines, "what Claude did")
			if state := n.want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil); state["queued"] != nil {
				t.Errorf("still queued are %v", state["queued"])
			}
			n.approve(t, id)
			n.await(t, id, "received")
		})
	}
}

// A steer that arrives exactly when the review opens is a separate round, too, and none is
// accepted for a change that was approved.
func TestSteersAtEveryMoment(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	env := gatedChange(t, gate)
	n := startNode(t, env)
	id := n.create(t, object{"kind": "gated", "userId": "u1", "input": object{
		"prompt": "begin", "max_steering_iterations": 30, "repos": []any{object{"url": goRepository(t, "service")}},
	}})
	eventually(t, "the verifier to run", func() bool { return exists(gate + ".reached") })
	open(t, gate)
	var want []string
	for i := range 12 {
		prompt := "wish " + string(rune('a'+i))
		n.want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": prompt})
		want = append(want, prompt)
		time.Sleep(time.Duration(i) * 7 * time.Millisecond) // arrive at different moments
	}
	for round := range want { // each is slow on a busy machine
		eventually(t, "the next round", func() bool {
			history, _ := n.want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)["history"].([]any)
			return len(history) > round
		})
	}
	n.await(t, id, "awaiting_approval")
	if prompts, _ := steered(t, n, id); !cmp.Equal(want, prompts) {
		t.Errorf("the rounds are %v", prompts)
	}
	must.OK(t, os.Remove(gate))
	n.approve(t, id)
	status, answer := n.do(t, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "too late"})
	must.Equal(t, 409, status, "a steer after the approval was answered", answer)
	n.await(t, id, "received")
}

// A slow verifier does not occupy the only worker.
func TestAVerifierTakesNoWorker(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	env := gatedChange(t, gate)
	env["WORKERS"] = "1"
	n := startNode(t, env)
	change := n.create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": goRepository(t, "service")}}}})
	eventually(t, "the verifier to run", func() bool { return exists(gate + ".reached") })
	n.await(t, n.create(t, object{"userId": "u2"}), "received")
	open(t, gate)
	n.openCheckpoint(t, change, "awaiting_approval")
}
