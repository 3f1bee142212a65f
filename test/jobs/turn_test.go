package jobs

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

// begins prints the CLI's first line: without it, a CLI that ends has not started.
const begins = `echo '{"type":"system","subtype":"init"}'; `

func TestTimeoutExpiresTheJobAndEndsItsProcesses(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		// It ignores SIGTERM, and leaves a child in a separate session.
		env["CLAUDE_BIN"] = rig.Script(t, `trap "" TERM; cat > prompt.txt; setsid sleep 1000 & sleep 1000 & while true; do sleep 1; done`)
		env["CALLBACK_TIMEOUT"] = "2s"
		n := rig.Start(t, env)
		events := n.Listen(t, "userId=u1")
		id := n.Create(t, object{"userId": "u1"})
		frames := events.Until("recipes:suggestions:error")
		want := object{"suggestionId": id, "error": "Request timed out. Please try again.", "errorCode": "callback_timeout"}
		must.Equal[any](t, want, frames[len(frames)-1]["data"])
		record := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)
		if record["status"] != "expired" || record["error"] != "Claude did not respond in time" {
			t.Errorf("the record says %v: %v", record["status"], record["error"])
		}
		must.Eventually(t, "all processes of the job to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })

		status, answer := n.Do(t, "POST", "/api/claude/suggestions", object{"requestId": id, "hmac": "late", "suggestions": []any{}, "reasoning": ""})
		if status != 404 || answer["error"] != "Unknown or expired request" || !strings.Contains(answer["hint"].(string), "deadline has passed") {
			t.Errorf("a late callback was answered %d %v", status, answer)
		}
		retried := n.Want(t, 200, "POST", "/api/jobs/"+id+"/retry", nil)
		if retried["status"] != "pending" && retried["status"] != "running" {
			t.Errorf("after retry the job is %v", retried["status"])
		}
		n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
		n.Want(t, 409, "POST", "/api/jobs/"+id+"/cancel", nil)
		must.Eventually(t, "all processes of the job to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
	})
}

func TestCLIThatDoesNotDeliver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, bin, code, says string }{
		{"exits 1", rig.Script(t, begins+`echo "no credit left" >&2; exit 1`), "cli_failed", "exit code 1): no credit left"},
		{"exits 0 without a result", rig.Script(t, begins+`exit 0`), "exited_without_callback", "without submitting"},
		{"is killed", rig.Script(t, begins+`kill -9 $$`), "cli_failed", "killed"},
		{"prints garbage", rig.Script(t, begins+`head -c 100000 /dev/urandom; echo; echo '{"type":'; echo '[]'`), "exited_without_callback", "without submitting"},
		{"prints 100 MB", rig.Script(t, `head -c 100000000 /dev/zero; sleep 60`), "output_limit", "printed more than is allowed"},
		{"reports an error", rig.Script(t, `echo '{"type":"result","is_error":true,"subtype":"success","result":"The model is gone"}'; exit 1`), "cli_failed", "The model is gone"},
		{"used up its turns", rig.Script(t, `echo '{"type":"result","is_error":true,"subtype":"error_max_turns","num_turns":10}'; exit 1`), "exited_without_callback", "max_turns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := rig.Start(t, vars{"CLAUDE_BIN": c.bin, "PROMPTS_DIR": rig.KindsDir(t, "quick.md", "---\nmax_attempts: 2\n---\nBe quick.")})
			events := n.Listen(t, "userId=u1")
			id := n.Create(t, object{"kind": "quick", "userId": "u1"})
			frames := events.Until("quick:error")
			want := []string{"quick:pending", "quick:running", "quick:pending", "quick:running", "quick:error"}
			must.Equal(t, want, rig.EventNames(frames), "it must be tried twice")
			record := n.Await(t, id, "failed")
			if record["errorCode"] != c.code || !strings.Contains(record["error"].(string), c.says) {
				t.Errorf("the record says %v: %v; want %s: …%s…", record["errorCode"], record["error"], c.code, c.says)
			}
		})
	}
}

func TestCancelEndsTheProcess(t *testing.T) {
	t.Parallel()
	redis := rig.StartRedis(t).URL
	one := rig.Start(t, vars{"REDIS_URL": redis, "CLAUDE_BIN": rig.Script(t, `cat >/dev/null; sleep 1000`)})
	two := rig.Start(t, vars{"REDIS_URL": redis}, "--role", "api")
	id := one.Create(t, object{})
	one.Await(t, id, "running")
	must.Eventually(t, "the process to run", func() bool { return len(rig.ProcessesIn(one.Dir)) > 0 })
	two.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(one.Dir)) == 0 })
	must.Equal(t, "cancelled", one.Await(t, id, "cancelled")["errorCode"], "errorCode is")
	_, late := one.Do(t, "POST", "/api/claude/progress", object{"requestId": id, "message": "still here"})
	if hint, _ := late["hint"].(string); late["error"] != "Unknown request" || !strings.Contains(hint, "was cancelled") {
		t.Errorf("a callback after the cancellation was answered %v", late)
	}
}

func TestSecretsStayWithTheServer(t *testing.T) {
	t.Parallel()
	seen := t.TempDir()
	n := rig.Start(t, vars{
		"CLAUDE_BIN":     rig.Script(t, `tee `+seen+`/prompt; echo "$@" > `+seen+`/args; env > `+seen+`/env; sleep 1000`),
		"API_KEYS":       "a-key-of-the-back-end",
		"JWT_SECRET":     "a-secret-of-at-least-32-characters",
		"WEBHOOK_SECRET": "another-secret-of-the-server",
		"LOG_LEVEL":      "DEBUG",
	})
	key := []string{"Authorization", "Bearer a-key-of-the-back-end"}
	status, created := n.Do(t, "POST", "/api/jobs", object{"kind": "meal-suggestions", "userId": "u1", "input": rig.MealInput()}, key...)
	if status != http.StatusAccepted {
		t.Fatalf("answered %d %v", status, created)
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(seen, name))
		return string(text)
	}
	must.Eventually(t, "the CLI to run", func() bool { return strings.Contains(read("env"), "RINGBACK_PROCESS") })
	hmac := rig.Setting(read("prompt"), "HMAC_SIGNATURE")
	if len(hmac) != 64 {
		t.Fatalf("the prompt holds no signature: %q", hmac)
	}
	_, wrong := n.Do(t, "POST", "/api/claude/suggestions", object{"requestId": created["requestId"], "hmac": hmac, "suggestions": 1})
	_, record := n.Do(t, "GET", "/api/jobs/"+created["requestId"].(string), nil, key...)
	transcript := func() string {
		return n.Respond(t, "GET", "/api/jobs/"+created["requestId"].(string)+"/transcript", nil, key...).Text
	}
	must.Eventually(t, "the transcript", func() bool { return strings.Contains(transcript(), "HMAC_SIGNATURE: ***") })
	for place, text := range map[string]string{
		"transcript": transcript(), "arguments": read("args"), "environment": read("env"), "log": n.Log.String(), "record": rig.JSON(record), "error": rig.JSON(wrong),
	} {
		for _, secret := range []string{hmac, "a-key-of-the-back-end", "a-secret-of-at-least", "another-secret"} {
			must.NotContain(t, text, secret, place)
		}
	}
	_, _ = n.Do(t, "POST", "/api/jobs/"+created["requestId"].(string)+"/cancel", nil, key...)
}

func TestKindDroppedIn(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{
		"PROMPTS_DIR": rig.KindsDir(t, "haiku.md", "---\ndescription: Writes a haiku\n---\nWrite a haiku about {{input.topic}}."),
		"SCHEMAS_DIR": rig.KindsDir(t,
			"haiku.input.json", `{"type":"object","required":["topic"],"properties":{"topic":{"type":"string"}},"additionalProperties":false}`,
			"haiku.result.json", `{"type":"object","required":["lines"],"properties":{"lines":{"type":"array","minItems":3,"maxItems":3,"items":{"type":"string"}}},"additionalProperties":false}`),
	})
	events := n.Listen(t, "userId=u1")
	id := n.Create(t, object{"kind": "haiku", "input": object{"topic": "rain"}, "userId": "u1"})
	events.Until("haiku:received")
	record := n.Await(t, id, "received")
	must.Equal(t, 3, len(record["result"].(object)["lines"].([]any)), "lines")
	wrong := n.Want(t, 400, "POST", "/api/jobs", object{"kind": "haiku", "input": object{"subject": "rain"}})
	if got := rig.Details(t, wrong); !strings.Contains(got["/input/topic"], "required") || !strings.Contains(got["/input/subject"], "not a known field") {
		t.Errorf("details are %v", got)
	}
	unknown := n.Want(t, 404, "POST", "/api/jobs", object{"kind": "sonnet"})
	must.Contain(t, unknown["hint"].(string), "haiku, meal-suggestions", "does not name the kinds", unknown)
}

func TestOneUserCannotTakeAllWorkers(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"WORKERS": "4", "USER_LIMIT": "2", "CLAUDE_BIN": rig.Script(t, `cat >/dev/null; while [ ! -e `+t.TempDir()+`/never ]; do sleep 1; done`)})
	var ids []string
	for range 4 {
		ids = append(ids, n.Create(t, object{"userId": "greedy", "kind": "meal-suggestions", "input": rig.MealInput()}))
	}
	modest := n.Create(t, object{"userId": "modest"})
	n.Await(t, modest, "running")
	running := func() int {
		page := n.Want(t, 200, "GET", "/api/jobs?userId=greedy&status=running", nil)
		return len(page["jobs"].([]any))
	}
	must.Eventually(t, "two jobs to run", func() bool { return running() == 2 })
	for _, id := range ids[2:] { // otherwise one still held by a worker lets the other pass
		must.Eventually(t, "the others to wait", func() bool { return n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["phase"] == "waiting_for_limit" })
	}
	n.Want(t, 200, "POST", "/api/jobs/"+ids[0]+"/cancel", nil)
	n.Await(t, ids[2], "running")
	for _, id := range append(ids[1:], modest) {
		n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		n := rig.Start(t, env)
		want := map[string]bool{}
		for i := range 7 {
			id, _ := n.Manual(t, object{"userId": fmt.Sprintf("u%d", i%3)})
			want[id] = true
		}
		cursor, pages := "", 0
		for {
			page := n.Want(t, 200, "GET", "/api/jobs?limit=3&status=running&cursor="+cursor, nil)
			pages++
			for _, j := range page["jobs"].([]any) {
				id := j.(object)["requestId"].(string)
				if !want[id] {
					t.Errorf("%s is listed twice, or is none of ours", id)
				}
				delete(want, id)
			}
			if page["nextCursor"] == nil {
				break
			}
			cursor = page["nextCursor"].(string)
		}
		if len(want) != 0 || pages != 3 {
			t.Errorf("%d pages, not listed: %v", pages, want)
		}
		must.Equal(t, 3, len(n.Want(t, 200, "GET", "/api/jobs?userId=u0", nil)["jobs"].([]any)), "user has … jobs")
	})
}
