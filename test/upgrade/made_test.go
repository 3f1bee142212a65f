package upgrade

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/scan"
)

var makeDump = flag.Bool("make-dump", false, "have a server of the first commit of format 9 write "+dumpFile)

// shop is the kind whose actions people allow, and whose tool calls they are asked about.
const shop = `---
description: Runs a shop.
tools:
  ask: ['Bash(ship *)']
actions:
  - name: deploy
    title: Deploy
    question: 'Deploy "{{input.name}}"?'
    input: {type: object, required: [name], properties: {name: {type: string}}}
    yes: {label: 'Yes, Deploy', message: 'Yes, deploy "{{input.name}}".'}
    no: {label: 'No, Cancel', message: 'No.'}
    command: [sh, -c, 'cat > /dev/null; echo "{\"message\":\"Deployed\"}"']
  - name: wait
    title: Wait
    input: {type: object}
    command: [sh, -c, 'sleep 600']
    timeout: 15m
---
Run the shop.
`

// talker is a CLI that spends money, and reaches a limit of its account if it is asked to.
const talker = harness.CallsBack + `case $prompt in
*LIMIT*) echo '{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached|'$(($(date +%s) + 7200))'"}'; exit 1;;
esac
post result '"done":true'
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.5,"usage":{"input_tokens":1000,"output_tokens":200}}'
`

// repository makes the repository of the code changes, always with the same commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	bare, work := filepath.Join(dir, "service.git"), filepath.Join(dir, "work")
	harness.Git(t, "", "init", "--quiet", "--bare", "--initial-branch=main", bare)
	harness.Git(t, "", "init", "--quiet", "--initial-branch=main", work)
	must.OK(t, os.WriteFile(filepath.Join(work, "README.md"), []byte("# Service\n"), 0o600))
	harness.Git(t, work, "add", "--all")
	commit := exec.Command("git", "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "-m", "Begin")
	commit.Dir, commit.Env = work, append(os.Environ(), "GIT_AUTHOR_DATE=2026-11-27T12:00:00Z", "GIT_COMMITTER_DATE=2026-11-27T12:00:00Z")
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("git commit: %v: %s", err, out)
	}
	harness.Git(t, work, "push", "--quiet", bare, "HEAD:main")
	return bare
}

// What stands for addresses of this machine in a dump.
const repositories, webhook = "{{REPOSITORIES}}", "{{WEBHOOK}}"

// maker plays people, Claude and back ends on a server.
type maker struct {
	t *testing.T
	*rig.Node
	repository string
	jobs       map[string]string
}

// create creates a job for what is going to happen to it, by a user of that name.
func (m *maker) create(name, kind string, more object) string {
	m.t.Helper()
	body := object{"kind": kind, "input": object{}, "userId": "user-" + name, "sessionId": "chat-" + name}
	maps.Copy(body, more)
	m.jobs[name] = m.Create(m.t, body)
	return m.jobs[name]
}

// manual is create for a job in which the test plays Claude; it returns what callbacks have.
func (m *maker) manual(name, kind string, more object) object {
	m.t.Helper()
	all := object{"options": object{"simulate": "manual"}}
	maps.Copy(all, more)
	return m.Envelope(m.t, m.create(name, kind, all))
}

// calls sends a callback.
func (m *maker) calls(endpoint string, envelope, fields object) object {
	m.t.Helper()
	_, answer := m.Do(m.t, http.MethodPost, "/api/claude/"+endpoint, rig.With(envelope, fields))
	return answer
}

// sends sends a callback to a server that is killed before it answers.
func (m *maker) sends(endpoint string, body object) {
	text := must.Get(json.Marshal(body))(m.t)
	go func() {
		resp, err := http.Post(m.URL+"/api/claude/"+endpoint, "application/json", bytes.NewReader(text))
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
}

// hook asks whether a tool call is allowed, as the CLI does.
func (m *maker) hook(envelope object, call, command string) (decision string) {
	m.t.Helper()
	_, answer := m.Do(m.t, http.MethodPost, "/api/claude/tool-calls", object{
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_" + call, "tool_input": object{"command": command},
	}, "X-Ringback-Request-Id", envelope["requestId"].(string), "X-Ringback-Signature", envelope["hmac"].(string))
	output, _ := answer["hookSpecificOutput"].(object)
	decision, _ = output["permissionDecision"].(string)
	return decision
}

func (m *maker) change(name string) string {
	return m.create(name, "code-change", object{"options": object{"simulate": "success"}, "input": object{
		"prompt": "Describe the service", "repos": []any{m.repository},
	}})
}

var question = object{"type": "information_request", "message": "Which colour?"}

// atRest brings jobs into the situations in which no one works on them.
func (m *maker) atRest() {
	t := m.t
	m.calls("checkpoints", m.manual("parked", "shop", nil), question)
	m.Await(t, m.jobs["parked"], "awaiting_input")
	m.Want(t, 200, "POST", "/to-llm", object{"sessionId": "chat-parked-too", "userId": "user-chat", "content": "Hello"})

	deploy := object{"input": object{"name": "app"}}
	m.calls("actions/deploy", m.manual("allowed", "shop", nil), deploy)
	m.Await(t, m.jobs["allowed"], "awaiting_approval")
	m.Approve(t, m.jobs["allowed"])

	m.calls("actions/wait", m.manual("acting", "shop", nil), object{"input": object{}})
	m.Await(t, m.jobs["acting"], "awaiting_approval")
	m.Approve(t, m.jobs["acting"])

	standing := m.manual("standing", "shop", nil)
	m.hook(standing, "1", "ship one")
	asked := m.OpenCheckpoint(t, m.jobs["standing"], "awaiting_approval")
	m.Reply(t, asked["id"].(string), object{"decision": "approve", "scope": "always"})

	batches := m.manual("batches", "meal-suggestions", object{"input": rig.MealInput()})
	m.calls("suggestions/batch", batches, object{"batch": 1, "final": false, "suggestions": rig.MealResult("Soup")["suggestions"]})

	m.create("received", "meal-suggestions", object{"input": rig.MealInput(), "options": object{"simulate": "success"}})
	m.Await(t, m.jobs["received"], "received")
	m.calls("failure", m.manual("failed", "shop", nil), object{"error": "The shop is closed"})
	m.Await(t, m.jobs["failed"], "failed")
	m.manual("cancelled", "shop", nil)
	m.Want(t, 200, "POST", "/api/jobs/"+m.jobs["cancelled"]+"/cancel", nil)

	m.change("review")
	m.OpenCheckpoint(t, m.jobs["review"], "awaiting_approval")
	m.Want(t, 200, "POST", "/api/jobs/"+m.jobs["review"]+"/steer", object{"prompt": "Say more"})
	must.Eventually(t, "the second round", func() bool {
		record := m.Want(t, 200, "GET", "/api/jobs/"+m.jobs["review"], nil)
		return record["status"] == "awaiting_approval" && record["iteration"] != 1.0 && record["turn"].(float64) > 1
	})
	m.change("rejected")
	m.OpenCheckpoint(t, m.jobs["rejected"], "awaiting_approval")
	m.Want(t, 200, "POST", "/api/jobs/"+m.jobs["rejected"]+"/reject", object{"reason": "no"})
	m.change("approved")
	m.OpenCheckpoint(t, m.jobs["approved"], "awaiting_approval")

	m.create("spent", "shop", nil)
	m.Await(t, m.jobs["spent"], "received")
	m.create("limited", "shop", object{"input": object{"text": "LIMIT"}})
	must.Eventually(t, "a limit of Claude's", func() bool {
		return m.Want(t, 200, "GET", "/api/jobs/"+m.jobs["limited"], nil)["phase"] == "waiting_for_limit"
	})
}

// TestMakeTheDump writes the store of a server of the first commit that has to survive, which was killed:
//
//	go test ./test/upgrade -run TestMakeTheDump -make-dump
func TestMakeTheDump(t *testing.T) {
	t.Parallel()
	if !*makeDump {
		t.Skip("it is only run to make " + dumpFile + " anew, with -make-dump")
	}
	old, repository := harness.BuildAt(t, firstOf9), repository(t)
	redis := harness.StartRedis(t, scan.Suite, nil)
	rdb := redis.Client()
	defer rdb.Close()
	hook := "http://127.0.0.1:9/notices" // nothing listens there
	env := vars{
		"REDIS_URL": redis.URL, "HOLD": "200ms", "CLAUDE_BIN": rig.Script(t, talker), "SANDBOX": "off", "WEBHOOK_URL": hook, "WEBHOOK_SECRET": "a-secret-that-both-sides-know",
		"PROMPTS_DIR": rig.KindsDir(t, "shop.md", shop), "REPOSITORY_PATHS": filepath.Dir(repository), "NODE_TIMEOUT": "5s",
	}
	start := func(more vars, args ...string) *maker {
		all := maps.Clone(env)
		maps.Copy(all, more)
		return &maker{t, rig.StartWith(t, harness.Options{Env: all, Args: args, Binary: old, Scan: scan.Suite}), repository, map[string]string{}}
	}
	m := start(nil)
	m.atRest()
	slow := start(vars{"RINGBACK_SIMULATE_PACE": "1h", "HOLD": "5m"})
	slow.jobs = m.jobs
	m.Kill(t)

	slow.create("running", "meal-suggestions", object{"input": rig.MealInput(), "options": object{"simulate": "success"}})
	slow.Await(t, m.jobs["running"], "running")
	acting, held := slow.Envelope(t, m.jobs["acting"]), slow.manual("held", "shop", nil)
	slow.sends("actions/wait", rig.With(acting, object{"input": object{}, "confirmed": true}))
	slow.sends("actions/deploy", rig.With(held, object{"input": object{"name": "held"}}))
	slow.Await(t, m.jobs["held"], "awaiting_approval")
	must.Eventually(t, "an action that runs", func() bool { return strings.Contains(slow.Text(t, "/api/jobs/"+m.jobs["acting"]+"/audit"), "started") })

	api := start(vars{"HOLD": "5m"}, "--role", "api")
	api.jobs = m.jobs
	slow.Kill(t)
	api.Approve(t, m.jobs["approved"])
	api.create("queued", "meal-suggestions", object{"input": rig.MealInput(), "options": object{"simulate": "success"}})
	api.Kill(t)

	host := must.Get(os.Hostname())(t)
	at := places{filepath.Dir(repository): repositories, hook: webhook, filepath.Dir(t.TempDir()): "/srv", host + " at ": "shop-1 at "}
	dumpStore(t, rdb, m.jobs, at).write(t)
}
