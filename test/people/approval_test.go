package people

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/must"
	"ringback/test/rig"
)

func startGated(t testing.TB, env vars, extra string) *rig.Gated {
	t.Helper()
	all := vars{"HOLD": "0s"}
	var runs string
	all["PROMPTS_DIR"], runs = rig.GatedKind(t, extra)
	maps.Copy(all, env)
	g := &rig.Gated{T: t, N: rig.Start(t, all), Runs: runs}
	g.ID, g.Envelope = g.Another()
	return g
}

func TestNothingRunsWithoutAYes(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		g := startGated(t, env, "")
		input := object{"name": "shop"}
		status, answer := g.Call(input, true) // "confirmed" from the start
		want := object{"status": "pending_confirmation", "message": "Awaiting user confirmation", "name": "shop", "instruction": answer["instruction"]}
		if diff := cmp.Diff(want, answer); status != "pending_confirmation" || diff != "" {
			t.Errorf("a claimed confirmation was answered %s", diff)
		}
		checkpoint := g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")
		if checkpoint["type"] != "confirmation" || checkpoint["message"] != `Deploy "shop"?` {
			t.Errorf("the user was asked %v", checkpoint)
		}
		g.N.Say(t, "s1", "yes if the tests pass")
		must.Equal(t, "awaiting_approval", g.N.Want(t, 200, "GET", "/api/jobs/"+g.ID, nil)["status"], "a condition was taken for a yes: the job is")
		g.Say(`Yes, please proceed with deploying "shop".`)
		if status, _ := g.Call(object{"name": "shop2"}, true); status != "pending_confirmation" {
			t.Errorf("a changed input was answered %s", status)
		}
		g.Say("No, Cancel")
		if rig.Ran(t, g.Runs) != 0 {
			t.Fatal("the action ran before it was allowed")
		}
		status, answer = g.Call(json.RawMessage(`{"name": "\u0073hop"}`), true) // another spelling
		if status != "success" || answer["message"] != "Deployed" || answer["success"] != true || answer["nextSteps"] == nil {
			t.Errorf("the allowed action was answered %v", answer)
		}
		if status, _ := g.Call(input, true); status != "pending_confirmation" {
			t.Errorf("a replayed approval was answered %s", status)
		}
		must.Equal(t, 1, rig.Ran(t, g.Runs), "the action ran … times")
		const claimed = "refused: confirmed is true, but this input has no unused approval"
		wantLog := []string{claimed, "asked", "unclear", "asked", "approve", claimed, "asked", "deny", "started run 1", "finished run 1: success", claimed, "asked"}
		must.Equal(t, wantLog, g.N.AuditLines(t, g.ID), "the audit log")
	})
}

func TestApprovalsOfOthersDoNotCount(t *testing.T) {
	t.Parallel()
	g := startGated(t, nil, "")
	input := object{"name": "shop"}
	g.Call(input, false)
	g.Say("yes")
	mine := g.Envelope
	_, g.Envelope = g.Another()
	if status, _ := g.Call(input, true); status != "pending_confirmation" {
		t.Errorf("another job's approval was answered %s", status)
	}
	g.Envelope = rig.With(mine, object{"hmac": strings.Repeat("0", 64)})
	if status, _ := g.Call(input, true); status != "403" {
		t.Errorf("a forged call was answered %s", status)
	}
	g.Envelope = mine
	if status, refused := g.Call(object{"name": 5}, true); status != "400" || rig.Details(t, refused)["/input/name"] == "" {
		t.Errorf("an input that breaks the schema was answered %s %v", status, refused)
	}
	must.Equal(t, 0, rig.Ran(t, g.Runs), "the action ran")
	if status, _ := g.Call(input, true); status != "success" {
		t.Errorf("its own approval was answered %s", status)
	}
}

func TestHeldApproval(t *testing.T) {
	t.Parallel()
	g := startGated(t, vars{"HOLD": "30s"}, "")
	for _, c := range []struct{ decision, status, chat string }{
		{"deny", "denied", "No, I don't want to deploy right now."},
		{"approve", "pending_confirmation", `Yes, please proceed with deploying "shop".`},
	} {
		answers := g.Ask(object{"name": "shop"}, false)
		checkpoint := g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")["id"].(string)
		g.N.Reply(t, checkpoint, object{"decision": c.decision})
		if answer := <-answers; answer["status"] != c.status || answer["decision"] != c.decision {
			t.Errorf("%s: the call was answered %v", c.decision, answer)
		}
		said := ""
		for _, m := range g.N.Messages(t, "s1", "") {
			if m["sender"] == "user" {
				said = m["content"].(string)
			}
		}
		must.Equal(t, c.chat, said, c.decision, "reads in the chat")
	}
	if status, _ := g.Call(object{"name": "shop"}, true); status != "success" {
		t.Errorf("the allowed action was answered %s", status)
	}
	want := []string{"deploy output-denied", "deploy output-available"}
	must.Equal(t, want, toolStates(readWithAISDK(t, g.N.Messages(t, "s1", ""))), "the AI SDK shows the calls as")
}

func TestForgedToolCalls(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"PROMPTS_DIR": rig.CarefulKind(t), "HOLD": "0s"})
	id, envelope := n.Manual(t, object{"kind": "careful", "input": object{}, "userId": "u1"})
	other, _ := n.Manual(t, object{"kind": "careful", "input": object{}, "userId": "u1"})
	hook := object{"tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": "/", "tool_input": object{"command": "id"}}
	for name, headers := range map[string][]string{
		"a wrong signature":       {"X-Ringback-Request-Id", id, "X-Ringback-Signature", strings.Repeat("0", 64)},
		"another job's signature": {"X-Ringback-Request-Id", other, "X-Ringback-Signature", envelope["hmac"].(string)},
	} {
		if status, answer := n.Do(t, "POST", "/api/claude/tool-calls", hook, headers...); status != 403 {
			t.Errorf("%s was answered %d %v", name, status, answer)
		}
	}
	if status, answer := n.Do(t, "POST", "/api/claude/tool-calls", hook); status != 400 {
		t.Errorf("without a signature it was answered %d %v", status, answer)
	}
	status, answer := n.Do(t, "POST", "/api/claude/tool-calls", hook, "X-Ringback-Request-Id", id, "X-Ringback-Signature", envelope["hmac"].(string))
	if output, _ := answer["hookSpecificOutput"].(object); status != 200 || output["permissionDecision"] != "defer" {
		t.Errorf("the right one was answered %d %v", status, answer)
	}
}

func TestActionTellsAndEndsWithItsJob(t *testing.T) {
	t.Parallel()
	prompts := rig.KindsDir(t, "slow.md", `---
actions:
  - name: wait
    confirm: never
    command: [sh, -c, 'echo first; sleep 0.2; echo second; sleep 1616']
---
Wait.`)
	n := rig.Start(t, vars{"PROMPTS_DIR": prompts, "HOLD": "0s"})
	id, envelope := n.Manual(t, object{"kind": "slow", "input": object{}, "userId": "u1"})
	events := n.Listen(t, "userId=u1")
	go func() { n.Do(t, "POST", "/api/claude/actions/wait", rig.With(envelope, object{"input": object{}})) }()
	for _, want := range []string{"first", "second"} {
		frames := events.Until("slow:activity")
		must.Equal[any](t, want, frames[len(frames)-1]["data"].(object)["message"], "the user was told")
	}
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	must.Eventually(t, "the action to end with its job", func() bool { return len(rig.CommandsLike("sleep 1616")) == 0 })
}

// If a server dies while an action runs, it neither runs it again nor leaves it running,
// and reports that its outcome is unknown.
func TestActionIsNeverRunTwice(t *testing.T) {
	t.Parallel()
	prompts, runs := rig.GatedKind(t, "")
	text := must.Get(os.ReadFile(filepath.Join(prompts, "gated.md")))(t)
	slow := strings.Replace(string(text), "echo working;", "echo working; sleep 1717;", 1)
	must.OK(t, os.WriteFile(filepath.Join(prompts, "gated.md"), []byte(slow), 0o600))
	env := vars{"REDIS_URL": rig.StartRedis(t).URL, "DATA_DIR": t.TempDir(), "PROMPTS_DIR": prompts, "HOLD": "0s", "NODE_TIMEOUT": "1s"}
	n := rig.Start(t, env)
	g := &rig.Gated{T: t, N: n, Runs: runs}
	g.ID, g.Envelope = g.Another()
	input := object{"name": "shop"}
	g.Call(input, false)
	g.Say("yes")
	go func() {
		body, _ := json.Marshal(rig.With(g.Envelope, object{"input": input, "confirmed": true}))
		resp, err := http.Post(n.URL+"/api/claude/actions/deploy", "application/json", strings.NewReader(string(body)))
		if err == nil {
			resp.Body.Close()
		}
	}()
	must.Eventually(t, "the action to run", func() bool { return rig.Ran(t, runs) == 1 && len(rig.CommandsLike("sleep 1717")) > 0 })
	n.Kill(t)
	g.N = rig.Start(t, env)
	must.Eventually(t, "what was left of the action to be ended", func() bool { return len(rig.CommandsLike("sleep 1717")) == 0 })
	var answer object
	var status string
	must.Eventually(t, "the outcome to be given up", func() bool {
		status, answer = g.Call(input, true)
		return status != "running"
	})
	if status != "error" || !strings.Contains(fmt.Sprint(answer["message"]), "not known") {
		t.Errorf("after the crash the same call was answered %v", answer)
	}
	if status, _ := g.Call(input, true); status != "pending_confirmation" {
		t.Errorf("once more it was answered %s", status)
	}
	must.Equal(t, 1, rig.Ran(t, runs), "the action ran … times")
}

func TestKindTellsItsActions(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	actions := n.Want(t, 200, "GET", "/api/kinds/ship", nil)["actions"].([]any)
	first := actions[0].(object)
	if len(actions) != 1 || first["name"] != "deployToShipperCloud" || first["confirm"] != "always" || first["inputSchema"].(object)["required"] == nil {
		t.Errorf("the actions are %v", actions)
	}
}

// "Yes, but" is not a yes and leads to another question; what it said reaches Claude with
// the resulting decision.
func TestWhatWasSaidBeforeADecisionReachesClaude(t *testing.T) {
	t.Parallel()
	for _, decision := range []string{"no", "yes"} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			g := startGated(t, vars{"HOLD": "30s"}, "")
			answers := g.Ask(object{"name": "shop"}, false)
			g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")
			g.N.Say(t, "s1", "yes but only the replica")
			g.Say(decision)
			lines := said((<-answers)["exchange"])
			if len(lines) != 3 || lines[0] != "user: yes but only the replica" || !strings.HasPrefix(lines[1], "assistant: ") || lines[2] != "user: "+decision {
				t.Errorf("Claude is told of %q", lines)
			}
		})
	}
}
