package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/must"
	"ringback/test/scan"
)

// gatedKind creates a kind with one action that records each of its runs in a file, so that
// they can be counted from outside.
func gatedKind(t testing.TB, extra string) (prompts, runs string) {
	t.Helper()
	runs = filepath.Join(t.TempDir(), "runs")
	return kindsDir(t, "gated.md", fmt.Sprintf(`---
actions:
  - name: deploy
    title: Deploy
    question: 'Deploy "{{input.name}}"?'
    input:
      type: object
      required: [name]
      properties: {name: {type: string}, size: {type: integer}, nested: {type: object}}
    yes: {label: 'Yes, Deploy', message: 'Yes, please proceed with deploying "{{input.name}}".'}
    no: {label: 'No, Cancel', message: 'No, I don''t want to deploy right now.'}
    command: [sh, -c, 'cat >> %[1]s; echo >> %[1]s; echo working; printf "{\"message\":\"Deployed\",\"nextSteps\":[\"Call it a day\"]}"']
%[2]s
---
Deploy.`, runs, extra)), runs
}

// ran counts the recorded runs of a gated kind's action.
func ran(t testing.TB, runs string) int {
	t.Helper()
	text, err := os.ReadFile(runs)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// gated is a job of a gated kind for which the test plays Claude.
type gated struct {
	t        testing.TB
	n        *node
	id, runs string
	envelope object
}

func startGated(t testing.TB, env vars, extra string) *gated {
	t.Helper()
	all := vars{"HOLD": "0s"}
	var runs string
	all["PROMPTS_DIR"], runs = gatedKind(t, extra)
	maps.Copy(all, env)
	g := &gated{t: t, n: startNode(t, all), runs: runs}
	g.id, g.envelope = g.another()
	return g
}

func (g *gated) another() (string, object) {
	g.t.Helper()
	return g.n.manual(g.t, object{"kind": "gated", "input": object{}, "userId": "u1", "sessionId": "s1"})
}

// call calls the action; it returns the response and its status field.
func (g *gated) call(input any, confirmed bool) (string, object) {
	g.t.Helper()
	body := with(g.envelope, object{"input": input})
	if confirmed {
		body["confirmed"] = true
	}
	status, answer := g.n.do(g.t, "POST", "/api/claude/actions/deploy", body)
	if status != http.StatusOK {
		return strconv.Itoa(status), answer
	}
	return answer["status"].(string), answer
}

// ask is call without waiting for the response, which it sends to the channel.
func (g *gated) ask(input any, confirmed bool) <-chan object {
	answers := make(chan object, 1)
	go func() {
		_, answer := g.call(input, confirmed)
		answers <- answer
	}()
	return answers
}

// say replies in the chat and waits until the job continues.
func (g *gated) say(text string) {
	g.t.Helper()
	g.n.say(g.t, "s1", text)
	g.n.renew(g.t, g.envelope)
}

// audit returns a job's audit log, one word for each entry.
func (n *node) audit(t testing.TB, id string) []string {
	t.Helper()
	var events []string
	for _, entry := range n.auditEntries(t, id) {
		events = append(events, entry["event"].(string))
	}
	return events
}

// auditLines returns a job's audit log, with the outcomes of runs and the reasons of
// refusals. Runs are numbered in the order of their first entry.
func (n *node) auditLines(t testing.TB, id string) []string {
	t.Helper()
	var lines []string
	runs := map[string]int{}
	for _, entry := range n.auditEntries(t, id) {
		parts := []string{entry["event"].(string)}
		if run, ok := entry["run"].(string); ok {
			if runs[run] == 0 {
				runs[run] = len(runs) + 1
			}
			parts[0] += fmt.Sprint(" run ", runs[run])
		}
		for _, field := range []string{"outcome", "detail"} {
			if text, ok := entry[field].(string); ok {
				parts = append(parts, text)
			}
		}
		lines = append(lines, strings.Join(parts, ": "))
	}
	return lines
}

// auditEntries returns the entries of a job's audit log.
func (n *node) auditEntries(t testing.TB, id string) []object {
	t.Helper()
	var entries []object
	for line := range strings.Lines(n.text(t, "/api/jobs/"+id+"/audit")) {
		var entry object
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("the audit log holds %s", line)
		}
		if entry["time"] == nil || entry["requestId"] != id {
			t.Errorf("an entry without time or job: %v", entry)
		}
		entries = append(entries, entry)
	}
	return entries
}

func TestNothingRunsWithoutAYes(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, env vars) {
		g := startGated(t, env, "")
		input := object{"name": "shop"}
		status, answer := g.call(input, true) // "confirmed" from the start
		want := object{"status": "pending_confirmation", "message": "Awaiting user confirmation", "name": "shop", "instruction": answer["instruction"]}
		if diff := cmp.Diff(want, answer); status != "pending_confirmation" || diff != "" {
			t.Errorf("a claimed confirmation was answered %s", diff)
		}
		checkpoint := g.n.openCheckpoint(t, g.id, "awaiting_approval")
		if checkpoint["type"] != "confirmation" || checkpoint["message"] != `Deploy "shop"?` {
			t.Errorf("the user was asked %v", checkpoint)
		}
		g.n.say(t, "s1", "yes if the tests pass")
		must.Equal(t, "awaiting_approval", g.n.want(t, 200, "GET", "/api/jobs/"+g.id, nil)["status"], "a condition was taken for a yes: the job is")
		g.say(`Yes, please proceed with deploying "shop".`)
		if status, _ := g.call(object{"name": "shop2"}, true); status != "pending_confirmation" {
			t.Errorf("a changed input was answered %s", status)
		}
		g.say("No, Cancel")
		if ran(t, g.runs) != 0 {
			t.Fatal("the action ran before it was allowed")
		}
		status, answer = g.call(json.RawMessage(`{"name": "\u0073hop"}`), true) // another spelling
		if status != "success" || answer["message"] != "Deployed" || answer["success"] != true || answer["nextSteps"] == nil {
			t.Errorf("the allowed action was answered %v", answer)
		}
		if status, _ := g.call(input, true); status != "pending_confirmation" {
			t.Errorf("a replayed approval was answered %s", status)
		}
		must.Equal(t, 1, ran(t, g.runs), "the action ran … times")
		const claimed = "refused: confirmed was claimed, but this input has no unused approval"
		wantLog := []string{claimed, "asked", "unclear", "asked", "approve", claimed, "asked", "deny", "started run 1", "finished run 1: success", claimed, "asked"}
		must.Equal(t, wantLog, g.n.auditLines(t, g.id), "the audit log")
	})
}

func TestApprovalsOfOthersDoNotCount(t *testing.T) {
	t.Parallel()
	g := startGated(t, nil, "")
	input := object{"name": "shop"}
	g.call(input, false)
	g.say("yes")
	mine := g.envelope
	_, g.envelope = g.another()
	if status, _ := g.call(input, true); status != "pending_confirmation" {
		t.Errorf("another job's approval was answered %s", status)
	}
	g.envelope = with(mine, object{"hmac": strings.Repeat("0", 64)})
	if status, _ := g.call(input, true); status != "403" {
		t.Errorf("a forged call was answered %s", status)
	}
	g.envelope = mine
	if status, refused := g.call(object{"name": 5}, true); status != "400" || details(t, refused)["/input/name"] == "" {
		t.Errorf("an input that breaks the schema was answered %s %v", status, refused)
	}
	must.Equal(t, 0, ran(t, g.runs), "the action ran")
	if status, _ := g.call(input, true); status != "success" {
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
		answers := g.ask(object{"name": "shop"}, false)
		checkpoint := g.n.openCheckpoint(t, g.id, "awaiting_approval")["id"].(string)
		g.n.reply(t, checkpoint, object{"decision": c.decision})
		if answer := <-answers; answer["status"] != c.status || answer["decision"] != c.decision {
			t.Errorf("%s: the call was answered %v", c.decision, answer)
		}
		said := ""
		for _, m := range g.n.messages(t, "s1", "") {
			if m["sender"] == "user" {
				said = m["content"].(string)
			}
		}
		must.Equal(t, c.chat, said, c.decision, "reads in the chat")
	}
	if status, _ := g.call(object{"name": "shop"}, true); status != "success" {
		t.Errorf("the allowed action was answered %s", status)
	}
	want := []string{"deploy output-denied", "deploy output-available"}
	must.Equal(t, want, toolStates(readWithAISDK(t, g.n.messages(t, "s1", ""))), "the AI SDK shows the calls as")
}

func TestActionByWebhook(t *testing.T) {
	t.Parallel()
	hook := startHook(t)
	prompts := kindsDir(t, "hooked.md", "---\nactions:\n  - {name: order, confirm: never, webhook: '"+hook.URL+"'}\n---\nOrder.")
	n := startNode(t, vars{"PROMPTS_DIR": prompts, "WEBHOOK_SECRET": hook.secret})
	id, envelope := n.manual(t, object{"kind": "hooked", "input": object{}, "userId": "u1"})
	answer := n.want(t, 200, "POST", "/api/claude/actions/order", with(envelope, object{"input": object{"item": "soup"}}))
	if answer["status"] != "success" || answer["ordered"] != "soup" {
		t.Errorf("the action was answered %v", answer)
	}
	data := hook.next(t)["data"].(object)
	if data["requestId"] != id || data["action"] != "order" || data["userId"] != "u1" {
		t.Errorf("the webhook was told %v", data)
	}
	hook.fail.Store(1)
	if answer := n.want(t, 200, "POST", "/api/claude/actions/order", with(envelope, object{"input": object{}})); answer["status"] != "error" || !strings.Contains(answer["message"].(string), "answered 503") {
		t.Errorf("a webhook that fails was answered %v", answer)
	}
}

func TestForgedToolCalls(t *testing.T) {
	t.Parallel()
	n := startNode(t, vars{"PROMPTS_DIR": carefulKind(t), "HOLD": "0s"})
	id, envelope := n.manual(t, object{"kind": "careful", "input": object{}, "userId": "u1"})
	other, _ := n.manual(t, object{"kind": "careful", "input": object{}, "userId": "u1"})
	hook := object{"tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": "/", "tool_input": object{"command": "id"}}
	for name, headers := range map[string][]string{
		"a wrong signature":       {"X-Ringback-Request-Id", id, "X-Ringback-Signature", strings.Repeat("0", 64)},
		"another job's signature": {"X-Ringback-Request-Id", other, "X-Ringback-Signature", envelope["hmac"].(string)},
	} {
		if status, answer := n.do(t, "POST", "/api/claude/tool-calls", hook, headers...); status != 403 {
			t.Errorf("%s was answered %d %v", name, status, answer)
		}
	}
	if status, answer := n.do(t, "POST", "/api/claude/tool-calls", hook); status != 400 {
		t.Errorf("without a signature it was answered %d %v", status, answer)
	}
	status, answer := n.do(t, "POST", "/api/claude/tool-calls", hook, "X-Ringback-Request-Id", id, "X-Ringback-Signature", envelope["hmac"].(string))
	if output, _ := answer["hookSpecificOutput"].(object); status != 200 || output["permissionDecision"] != "defer" {
		t.Errorf("the right one was answered %d %v", status, answer)
	}
}

func TestActionTellsAndEndsWithItsJob(t *testing.T) {
	t.Parallel()
	prompts := kindsDir(t, "slow.md", `---
actions:
  - name: wait
    confirm: never
    command: [sh, -c, 'echo first; sleep 0.2; echo second; sleep 1616']
  - name: fail
    confirm: "when: input.amount > 100"
    command: [sh, -c, 'echo "disk full" >&2; exit 4']
---
Wait.`)
	n := startNode(t, vars{"PROMPTS_DIR": prompts, "HOLD": "0s"})
	id, envelope := n.manual(t, object{"kind": "slow", "input": object{}, "userId": "u1"})
	answer := n.want(t, 200, "POST", "/api/claude/actions/fail", with(envelope, object{"input": object{"amount": 99}}))
	if answer["status"] != "error" || answer["success"] != false || !strings.Contains(answer["message"].(string), "exit code 4: disk full") {
		t.Errorf("a failed action was answered %v", answer)
	}
	if answer := n.want(t, 200, "POST", "/api/claude/actions/fail", with(envelope, object{"input": object{"amount": 101}})); answer["status"] != "pending_confirmation" {
		t.Errorf("above the limit it was answered %v", answer)
	}
	n.want(t, 200, "POST", "/api/jobs/"+id+"/reject", object{"reason": "too much"})
	n.renew(t, envelope)
	if status, unknown := n.do(t, "POST", "/api/claude/actions/nothing", with(envelope, object{"input": object{}})); status != 404 || !strings.Contains(fmt.Sprint(unknown["hint"]), "wait, fail") {
		t.Errorf("an unknown action was answered %d %v", status, unknown)
	}

	events := n.listen(t, "userId=u1")
	go func() { n.do(t, "POST", "/api/claude/actions/wait", with(envelope, object{"input": object{}})) }()
	for _, want := range []string{"first", "second"} {
		frames := events.until("slow:activity")
		must.Equal[any](t, want, frames[len(frames)-1]["data"].(object)["message"], "the user was told")
	}
	n.want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	eventually(t, "the action to end with its job", func() bool { return len(commandsLike("sleep 1616")) == 0 })
}

// commandsLike returns the running processes whose command line contains a text.
func commandsLike(text string) []string {
	var found []string
	for _, pid := range scan.Processes() {
		entry := fmt.Sprintf("/proc/%d/cmdline", pid)
		line, _ := os.ReadFile(entry)
		if strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), text) {
			found = append(found, entry)
		}
	}
	return found
}

// If a server dies while an action runs, it neither runs it again nor leaves it running,
// and reports that its outcome is unknown.
func TestActionIsNeverRunTwice(t *testing.T) {
	t.Parallel()
	prompts, runs := gatedKind(t, "")
	text := must.Get(os.ReadFile(filepath.Join(prompts, "gated.md")))(t)
	slow := strings.Replace(string(text), "echo working;", "echo working; sleep 1717;", 1)
	must.OK(t, os.WriteFile(filepath.Join(prompts, "gated.md"), []byte(slow), 0o600))
	env := vars{"REDIS_URL": startRedis(t).URL, "DATA_DIR": t.TempDir(), "PROMPTS_DIR": prompts, "HOLD": "0s", "NODE_TIMEOUT": "1s"}
	n := startNode(t, env)
	g := &gated{t: t, n: n, runs: runs}
	g.id, g.envelope = g.another()
	input := object{"name": "shop"}
	g.call(input, false)
	g.say("yes")
	go func() {
		body, _ := json.Marshal(with(g.envelope, object{"input": input, "confirmed": true}))
		resp, err := http.Post(n.URL+"/api/claude/actions/deploy", "application/json", strings.NewReader(string(body)))
		if err == nil {
			resp.Body.Close()
		}
	}()
	eventually(t, "the action to run", func() bool { return ran(t, runs) == 1 && len(commandsLike("sleep 1717")) > 0 })
	n.kill(t)
	g.n = startNode(t, env)
	eventually(t, "what was left of the action to be ended", func() bool { return len(commandsLike("sleep 1717")) == 0 })
	var answer object
	var status string
	eventually(t, "the outcome to be given up", func() bool {
		status, answer = g.call(input, true)
		return status != "running"
	})
	if status != "error" || !strings.Contains(fmt.Sprint(answer["message"]), "not known") {
		t.Errorf("after the crash the same call was answered %v", answer)
	}
	if status, _ := g.call(input, true); status != "pending_confirmation" {
		t.Errorf("once more it was answered %s", status)
	}
	must.Equal(t, 1, ran(t, runs), "the action ran … times")
}

func TestKindTellsItsActions(t *testing.T) {
	t.Parallel()
	n := startNode(t, nil)
	actions := n.want(t, 200, "GET", "/api/kinds/ship", nil)["actions"].([]any)
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
		want := func(t *testing.T, exchange any) {
			t.Helper()
			lines := said(exchange)
			if len(lines) != 3 || lines[0] != "user: yes but only the replica" || !strings.HasPrefix(lines[1], "assistant: ") || lines[2] != "user: "+decision {
				t.Errorf("Claude is told of %q", lines)
			}
		}
		t.Run("held "+decision, func(t *testing.T) {
			t.Parallel()
			g := startGated(t, vars{"HOLD": "30s"}, "")
			answers := g.ask(object{"name": "shop"}, false)
			g.n.openCheckpoint(t, g.id, "awaiting_approval")
			g.n.say(t, "s1", "yes but only the replica")
			g.say(decision)
			want(t, (<-answers)["exchange"])
		})
		t.Run("parked "+decision, func(t *testing.T) {
			t.Parallel()
			s := startAsker(t, vars{}, "actions/deploy", object{"input": object{"name": "shop"}})
			s.say("yes but only the replica")
			s.say(decision)
			s.reads("The user's answers to your questions")
			prompt := s.prompts()[0]
			var answers []object
			_, list, _ := strings.Cut(prompt, "The user's answers to your questions")
			_, list, _ = strings.Cut(list, "```json\n")
			list, _, _ = strings.Cut(list, "\n```")
			if err := json.Unmarshal([]byte(list), &answers); err != nil {
				t.Fatalf("%v in %s", err, prompt)
			}
			want(t, answers[len(answers)-1]["reply"].(object)["exchange"])
		})
	}
}
