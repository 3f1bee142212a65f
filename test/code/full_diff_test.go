package code

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// longChange is a gated kind, with the gate open, whose Claude writes a long file and a
// nested repository.
func longChange(t *testing.T) vars {
	t.Helper()
	gate := filepath.Join(t.TempDir(), "gate")
	rig.OpenGate(t, gate)
	env := gatedChange(t, gate)
	env["CLAUDE_BIN"] = rig.Script(t, `cd service && seq 1 25000 >> long.txt
mkdir -p inner && cd inner && git init -q . && echo x > x && git add x && git -c user.name=x -c user.email=x@y commit -qm x
cd ../..`+harness.SubmitsChange)
	return env
}

// Every line that will be pushed can be read, over HTTP and on the command line, even on a
// machine without the workspace; truncated output explains how.
func TestEveryLineOfADiffCanBeRead(t *testing.T) {
	t.Parallel()
	env := longChange(t)
	env["REDIS_URL"] = rig.StartRedis(t).URL
	n := rig.Start(t, env)
	id := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
	review := n.OpenCheckpoint(t, id, "awaiting_approval")["message"].(string)
	must.Contain(t, review, "inner (added, +1/-0) CAUTION: a git repository of its own", "the review")
	captured := list(t, n, "/api/jobs/"+id+"/diff")[0]
	if hint, _ := captured["hint"].(string); !strings.Contains(hint, "ringback diff --full "+id) || !strings.Contains(hint, "/api/jobs/"+id+"/diff?from=") {
		t.Errorf("the hint is %q", hint)
	}
	elsewhere := rig.Start(t, vars{"REDIS_URL": env["REDIS_URL"], "PROMPTS_DIR": env["PROMPTS_DIR"], "SCHEMAS_DIR": env["SCHEMAS_DIR"]}, "--role", "api")
	var want strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&want, "+%d\n", i+1)
	}
	for name, n := range map[string]*rig.Node{"with the workspace": n, "elsewhere": elsewhere} {
		var got strings.Builder
		for from := 1.0; from > 0; {
			page := list(t, n, fmt.Sprintf("/api/jobs/%s/diff?file=long.txt&from=%.0f&max_lines=4000", id, from))[0]
			got.WriteString(page["files"].([]any)[0].(object)["diff"].(string))
			from, _ = page["next_from"].(float64)
		}
		if _, lines, _ := strings.Cut(got.String(), "@@\n"); lines != want.String() {
			t.Errorf("%s: %d bytes of %d are shown", name, len(lines), want.Len())
		}
		shown := rig.CommandLine(t, n)("diff", id, "--full")
		if !strings.Contains(shown, "+25000\n") || !strings.Contains(shown, "+- begin") || strings.Count(shown, "\n") < 25_000 {
			t.Errorf("%s: the command line shows %d lines", name, strings.Count(shown, "\n"))
		}
	}
	for query, status := range map[string]int{"from=0": 400, "max_lines=10001": 400, "from=x": 400, "file=nosuch": 404, "repository=nosuch": 404} {
		n.Want(t, status, "GET", "/api/jobs/"+id+"/diff?"+query, nil)
	}
}

// A decision may name what was reviewed: it does not count for anything else.
func TestDecisionsNameWhatWasSeen(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	rig.OpenGate(t, gate)
	n := rig.Start(t, gatedChange(t, gate))
	cli := rig.CommandLine(t, n)
	remote := rig.GoRepository(t, "service")
	id := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": remote}}}})
	first := n.OpenCheckpoint(t, id, "awaiting_approval")
	seen := list(t, n, "/api/jobs/"+id+"/diff")[0]
	cli("diff", id)
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "more"})
	second := n.OpenCheckpoint(t, id, "awaiting_approval")
	now := list(t, n, "/api/jobs/"+id+"/diff")[0]
	if seen["iteration"] != 0.0 || now["iteration"] != 1.0 || seen["tree"] == now["tree"] {
		t.Fatalf("seen was iteration %v tree %v, now it is %v %v", seen["iteration"], seen["tree"], now["iteration"], now["tree"])
	}
	if later := rig.JSON(list(t, n, "/api/jobs/"+id+"/diff?since=0")[0]); !strings.Contains(later, "+- more") || strings.Contains(later, "+- begin") {
		t.Errorf("since the first round there is %s", later)
	}
	for query, status := range map[string]int{"since=7": 404, "since=-1": 400, "since=x": 400, "context=0": 400} {
		n.Want(t, status, "GET", "/api/jobs/"+id+"/diff?"+query, nil)
	}
	for _, verb := range []string{"approve", "reject"} {
		for name, body := range map[string]object{
			"iteration":                   {"iteration": 0},
			"tree":                        {"trees": object{"service": seen["tree"]}},
			"checkpoint":                  {"checkpointId": first["id"]},
			"a tree of another iteration": {"iteration": 1, "trees": object{"service": seen["tree"]}},
			"an iteration to come":        {"iteration": 2},
		} {
			answer := n.Want(t, 409, "POST", "/api/jobs/"+id+"/"+verb, body)
			if text := rig.JSON(answer); name != "checkpoint" && !strings.Contains(text, "round 2") {
				t.Errorf("%s by %s: %s", verb, name, text)
			}
		}
		n.Want(t, 400, "POST", "/api/jobs/"+id+"/"+verb, object{"trees": object{"nosuch": "x"}})
	}
	for _, part := range []object{{}, {"iteration": 1}, {"trees": object{"service": now["tree"]}}} {
		must.Contain(t, rig.JSON(n.Want(t, 400, "POST", "/api/jobs/"+id+"/approve", part)), "/checkpointId", "an approval that names but", part)
	}
	n.Want(t, 409, "POST", "/api/checkpoints/"+second["id"].(string)+"/reply", object{"decision": "approve", "iteration": 0})
	for _, verb := range []string{"approve", "reject"} {
		if said := cli(verb, id, "--yes"); !strings.Contains(said, "round 2") || !strings.Contains(said, "ringback diff") {
			t.Errorf("%s of what was not seen: %s", verb, said)
		}
	}
	must.NotContain(t, harness.Git(t, remote, "branch", "--list"), "ringback", "the remote has")
	cli("diff", id, "--full")
	must.Contain(t, cli("approve", id, "--yes"), "pushed to ringback/"+id, "approve of what was seen")
}
