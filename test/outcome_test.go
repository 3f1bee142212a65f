package test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
)

// allowing is a server with an action of each sort, and a job for which the test plays Claude.
type allowing struct {
	*gated
	hook *webhook
	cli  func(...string) string
}

func startAllowing(t *testing.T, command string) *allowing {
	t.Helper()
	hook := startHook(t)
	prompts := kindsDir(t, "gated.md", `---
actions:
  - name: deploy
    title: Deploy
    input: {type: object, properties: {name: {type: string}}}
    timeout: 2s
    `+command+`
---
Deploy.`)
	n := startNode(t, vars{"HOLD": "0s", "PROMPTS_DIR": prompts, "WEBHOOK_URL": hook.URL, "WEBHOOK_SECRET": hook.secret, "DATA_DIR": t.TempDir()})
	a := &allowing{gated: &gated{t: t, n: n}, hook: hook}
	a.id, a.envelope = a.another()
	a.cli = commandLine(t, n)
	return a
}

// allow asks for the action and allows it. It returns the question.
func (a *allowing) allow() (checkpoint string) {
	a.t.Helper()
	a.call(object{"name": "shop"}, false)
	checkpoint = a.n.openCheckpoint(a.t, a.id, "awaiting_approval")["id"].(string)
	a.n.reply(a.t, checkpoint, object{"decision": "approve"})
	a.n.renew(a.t, a.envelope)
	return checkpoint
}

// outcome is what came of a yes.
type outcome struct {
	status, message string
	// sentence is Ringback's sentence for people.
	sentence string
	action   string
}

// told waits until the outcome of a question is recorded, and checks that everybody is told of it, once.
func told(t *testing.T, n *node, hook *webhook, cli func(...string) string, id, checkpoint string, want outcome) {
	t.Helper()
	var got object
	eventually(t, "the outcome of "+checkpoint, func() bool {
		got, _ = n.want(t, 200, "GET", "/api/checkpoints/"+checkpoint, nil)["outcome"].(object)
		return got != nil
	})
	message, _ := got["message"].(string)
	if got["status"] != want.status || !strings.Contains(message, want.message) || got["at"] == nil {
		t.Fatalf("the question has the outcome %v, want %+v", got, want)
	}
	succeeded := want.status == "succeeded"
	record, _ := n.want(t, 200, "GET", "/api/jobs/"+id, nil)["failedActions"].([]any)
	if succeeded != (len(record) == 0) || !succeeded && (record[0].(object)["checkpointId"] != checkpoint || record[0].(object)["status"] != want.status) {
		t.Errorf("the job's record has the failed actions %v", record)
	}
	var events []object
	for _, e := range n.storedEvents(t, id, "") {
		if data := e["data"].(object); strings.HasSuffix(e["event"].(string), ":action") && data["checkpointId"] == checkpoint {
			events = append(events, data)
		}
	}
	if len(events) != 1 || events[0]["outcome"] != want.status || events[0]["action"] != want.action {
		t.Errorf("the events are %v", events)
	}
	if !succeeded {
		call := hook.next(t)
		for call["type"] != "checkpoint.outcome" {
			call = hook.next(t)
		}
		if data := flat(call); !strings.Contains(data, `"status":"`+want.status+`"`) || !strings.Contains(data, checkpoint) {
			t.Errorf("the webhook was told %s", data)
		}
		must.Contain(t, n.Log.String(), "level=WARN msg=\"approved operation did not succeed\"", "the log says")
		must.Contain(t, cli("status", id), "Failed: "+want.action+": "+want.sentence, "status")
	}
	must.Equal(t, 1, n.metric(t, `ringback_actions_total\{action="`+want.action+`",outcome="`+want.status+`"\}`), "the metric")
	must.Contain(t, cli("inbox", "--status", "answered"), want.sentence, "inbox")
	must.Contain(t, n.text(t, "/inbox/"+checkpoint), "<b>"+strings.Split(want.sentence, ":")[0]+"</b>", "the question's page")
	if said := strings.Join(n.auditLines(t, id), "\n"); !succeeded && !strings.Contains(said, want.message) {
		t.Errorf("the audit log says %s", said)
	}
}

// Whoever has allowed an action learns what came of it.
func TestWhatCameOfAYesIsTold(t *testing.T) {
	t.Parallel()
	run := func(a *allowing) { a.call(object{"name": "shop"}, true) }
	for name, row := range map[string]struct {
		command string
		then    func(*allowing)
		want    outcome
	}{
		"it succeeds":        {`command: [sh, -c, 'echo "{\"message\":\"Deployed\"}"']`, run, outcome{"succeeded", "Deployed", "It ran: Deployed", "deploy"}},
		"it fails":           {`command: [sh, -c, 'echo "disk full" >&2; exit 4']`, run, outcome{"failed", "exit code 4: disk full", "It failed: ", "deploy"}},
		"it takes too long":  {`command: [sleep, '600']`, run, outcome{"timed_out", "took longer than its timeout", "It timed out: ", "deploy"}},
		"its webhook fails":  {`webhook: ` + refusing(t), run, outcome{"failed", "answered 500", "It failed: ", "deploy"}},
		"it is never called": {`command: ['true']`, (*allowing).finish, outcome{"not_run", "Claude has submitted its result without it", "It was not run: ", "deploy"}},
		"its job is cancelled": {`command: [sleep, '600']`, func(a *allowing) {
			a.n.want(a.t, 200, "POST", "/api/jobs/"+a.id+"/cancel", nil)
		}, outcome{"not_run", "the job was cancelled", "It was not run: ", "deploy"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAllowing(t, row.command)
			checkpoint := a.allow()
			row.then(a)
			told(t, a.n, a.hook, a.cli, a.id, checkpoint, row.want)
		})
	}
}

// refusing returns the address of a webhook that answers 500.
func refusing(t *testing.T) string {
	t.Helper()
	return startHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
}

// finish submits the result of the job.
func (a *allowing) finish() {
	a.t.Helper()
	a.n.want(a.t, 200, "POST", "/api/claude/result", with(a.envelope, object{"done": true}))
}

// A server that dies during an action leaves it unknown whether that took effect. Its successor tells it once.
func TestAServerThatDiesDuringAnActionTellsIt(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	a := startAllowing(t, `command: [sh, -c, 'touch `+started+`; sleep 600']`)
	checkpoint := a.allow()
	url, body := a.n.URL, mustJSON(with(a.envelope, object{"input": object{"name": "shop"}, "confirmed": true}))
	go func() { // it gets no answer
		if resp, err := http.Post(url+"/api/claude/actions/deploy", "application/json", strings.NewReader(body)); err == nil {
			resp.Body.Close()
		}
	}()
	eventually(t, "the action to start", func() bool { return exists(started) })
	a.n = a.n.again(t)
	told(t, a.n, a.hook, commandLine(t, a.n), a.id, checkpoint, outcome{"unknown", "server was interrupted", "Whether it took effect is not known: ", "deploy"})
}

// A change that was approved and cannot be published is an approval that failed.
func TestAPublicationThatFailsIsTold(t *testing.T) {
	t.Parallel()
	remote, hooked := goRepository(t, "service"), startHook(t)
	hook(t, remote, "pre-receive", "echo 'no pushing on Fridays' >&2; exit 1")
	gate := filepath.Join(t.TempDir(), "verified")
	open(t, gate)
	env := gatedChange(t, gate)
	env["WEBHOOK_URL"], env["WEBHOOK_SECRET"] = hooked.URL, hooked.secret
	n := startNode(t, env)
	id := n.create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": remote}}}})
	first := n.openCheckpoint(t, id, "awaiting_approval")["id"].(string)
	n.approve(t, id)
	told(t, n, hooked, commandLine(t, n), id, first, outcome{"failed", "no pushing on Fridays", "It failed: ", "finalize"})
}
