package code

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

// allowing is a server with an action of each sort, and a job for which the test plays Claude.
type allowing struct {
	*rig.Gated
	hook *rig.Webhook
	cli  func(...string) string
}

func startAllowing(t *testing.T, command string) *allowing {
	t.Helper()
	hook := rig.StartHook(t)
	prompts := rig.KindsDir(t, "gated.md", `---
actions:
  - name: deploy
    title: Deploy
    input: {type: object, properties: {name: {type: string}}}
    timeout: 2s
    `+command+`
---
Deploy.`)
	n := rig.Start(t, vars{"HOLD": "0s", "PROMPTS_DIR": prompts, "WEBHOOK_URL": hook.URL, "WEBHOOK_SECRET": hook.Secret, "DATA_DIR": t.TempDir()})
	a := &allowing{Gated: &rig.Gated{T: t, N: n}, hook: hook}
	a.ID, a.Envelope = a.Another()
	a.cli = rig.CommandLine(t, n)
	return a
}

// allow asks for the action and allows it. It returns the question.
func (a *allowing) allow() (checkpoint string) {
	a.T.Helper()
	a.Call(object{"name": "shop"}, false)
	checkpoint = a.N.OpenCheckpoint(a.T, a.ID, "awaiting_approval")["id"].(string)
	a.N.Reply(a.T, checkpoint, object{"decision": "approve"})
	a.N.Renew(a.T, a.Envelope)
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
func told(t *testing.T, n *rig.Node, hook *rig.Webhook, cli func(...string) string, id, checkpoint string, want outcome) {
	t.Helper()
	var got object
	must.Eventually(t, "the outcome of "+checkpoint, func() bool {
		got, _ = n.Want(t, 200, "GET", "/api/checkpoints/"+checkpoint, nil)["outcome"].(object)
		return got != nil
	})
	message, _ := got["message"].(string)
	if got["status"] != want.status || !strings.Contains(message, want.message) || got["at"] == nil {
		t.Fatalf("the question has the outcome %v, want %+v", got, want)
	}
	succeeded := want.status == "succeeded"
	record, _ := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["failedActions"].([]any)
	if succeeded != (len(record) == 0) || !succeeded && (record[0].(object)["checkpointId"] != checkpoint || record[0].(object)["status"] != want.status) {
		t.Errorf("the job's record has the failed actions %v", record)
	}
	var events []object
	for _, e := range n.StoredEvents(t, id, "") {
		if data := e["data"].(object); strings.HasSuffix(e["event"].(string), ":action") && data["checkpointId"] == checkpoint {
			events = append(events, data)
		}
	}
	if len(events) != 1 || events[0]["outcome"] != want.status || events[0]["action"] != want.action {
		t.Errorf("the events are %v", events)
	}
	if !succeeded {
		call := hook.Next(t)
		for call["type"] != "checkpoint.outcome" {
			call = hook.Next(t)
		}
		if data := rig.JSON(call); !strings.Contains(data, `"status":"`+want.status+`"`) || !strings.Contains(data, checkpoint) {
			t.Errorf("the webhook was told %s", data)
		}
		must.Contain(t, n.Log.String(), "level=WARN msg=\"approved operation did not succeed\"", "the log says")
		must.Contain(t, cli("status", id), "Failed: "+want.action+": "+want.sentence, "status")
	}
	must.Equal(t, 1, n.Metric(t, `ringback_actions_total\{action="`+want.action+`",outcome="`+want.status+`"\}`), "the metric")
	must.Contain(t, cli("inbox", "--status", "answered"), want.sentence, "inbox")
	must.Contain(t, n.Text(t, "/inbox/"+checkpoint), "<b>"+strings.Split(want.sentence, ":")[0]+"</b>", "the question's page")
	if said := strings.Join(n.AuditLines(t, id), "\n"); !succeeded && !strings.Contains(said, want.message) {
		t.Errorf("the audit log says %s", said)
	}
}

// Whoever has allowed an action learns what came of it.
func TestWhatCameOfAYesIsTold(t *testing.T) {
	t.Parallel()
	run := func(a *allowing) { a.Call(object{"name": "shop"}, true) }
	for name, row := range map[string]struct {
		command string
		then    func(*allowing)
		want    outcome
	}{
		"it succeeds":        {`command: [sh, -c, 'echo "{\"message\":\"Deployed\"}"']`, run, outcome{"succeeded", "Deployed", "It ran: Deployed", "deploy"}},
		"it fails":           {`command: [sh, -c, 'echo "disk full" >&2; exit 4']`, run, outcome{"failed", "exit code 4: disk full", "It failed: ", "deploy"}},
		"it is never called": {`command: ['true']`, (*allowing).finish, outcome{"not_run", "Claude has submitted its result without it", "It was not run: ", "deploy"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAllowing(t, row.command)
			checkpoint := a.allow()
			row.then(a)
			told(t, a.N, a.hook, a.cli, a.ID, checkpoint, row.want)
		})
	}
}

// finish submits the result of the job.
func (a *allowing) finish() {
	a.T.Helper()
	a.N.Want(a.T, 200, "POST", "/api/claude/result", rig.With(a.Envelope, object{"done": true}))
}

// A server that dies during an action leaves it unknown whether that took effect. Its successor tells it once.
func TestAServerThatDiesDuringAnActionTellsIt(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	a := startAllowing(t, `command: [sh, -c, 'touch `+started+`; sleep 600']`)
	checkpoint := a.allow()
	url, body := a.N.URL, rig.JSON(rig.With(a.Envelope, object{"input": object{"name": "shop"}, "confirmed": true}))
	go func() { // it gets no answer
		if resp, err := http.Post(url+"/api/claude/actions/deploy", "application/json", strings.NewReader(body)); err == nil {
			resp.Body.Close()
		}
	}()
	must.Eventually(t, "the action to start", func() bool { return exists(started) })
	a.N = a.N.Again(t)
	told(t, a.N, a.hook, rig.CommandLine(t, a.N), a.ID, checkpoint, outcome{"unknown", "server was interrupted", "Whether it took effect is not known: ", "deploy"})
}

// A change that was approved and cannot be published is an approval that failed.
func TestAPublicationThatFailsIsTold(t *testing.T) {
	t.Parallel()
	remote, hooked := rig.GoRepository(t, "service"), rig.StartHook(t)
	hook(t, remote, "pre-receive", "echo 'no pushing on Fridays' >&2; exit 1")
	gate := filepath.Join(t.TempDir(), "verified")
	rig.OpenGate(t, gate)
	env := gatedChange(t, gate)
	env["WEBHOOK_URL"], env["WEBHOOK_SECRET"] = hooked.URL, hooked.Secret
	n := rig.Start(t, env)
	id := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": remote}}}})
	first := n.OpenCheckpoint(t, id, "awaiting_approval")["id"].(string)
	n.Approve(t, id)
	told(t, n, hooked, rig.CommandLine(t, n), id, first, outcome{"failed", "no pushing on Fridays", "It failed: ", "finalize"})
}
