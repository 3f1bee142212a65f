package code

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// list requests a JSON array.
func list(t testing.TB, n *rig.Node, path string) []object {
	t.Helper()
	var all []object
	must.OK(t, json.Unmarshal([]byte(harness.Text(t, n.URL+path)), &all))
	return all
}

// Steering as a person does it, from the first diff to the push.
func TestSteeringWithTheRealCLI(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	remote := rig.GoRepository(t, "service")
	hook := rig.StartHook(t)
	n, api := rig.RealClaude(t, vars{"DATA_DIR": t.TempDir(), "WEBHOOK_URL": hook.URL, "WEBHOOK_SECRET": hook.Secret}, rig.PlayChanges(
		rig.Writes("service/add_more.go", "package service\n\nfunc Sub(a, b int) int { return a - b }\n"),
		rig.Writes("service/add.go", "package service\n\nfunc Add(a, b int) int { return a + b }\n"),
		rig.Writes("service/mul.go", "package service\n\nfunc Mul(a, b int) int { return a * b }\n"),
	))
	cli := rig.CommandLine(t, n)
	task := filepath.Join(t.TempDir(), "task.yaml")
	must.OK(t, os.WriteFile(task, []byte("prompt: Fix the sum\nrepos: ["+remote+"]\nverifiers: ['test:sh check.sh']\nrequire_approval: true\nmax_steering_iterations: 2\n"), 0o600))
	ran := cli("run", "-f", task)
	status := func() string { return firstLine(cli("status")) }
	if status() != "Status: awaiting_approval" || !strings.Contains(ran, "ringback approve") {
		t.Fatalf("%s after:\n%s", status(), ran)
	}
	if got := cli("diff"); !strings.HasPrefix(got, "Repository: service\n  Summary: 1 file changed, +3, -0\n  added add_more.go (+3/-0)\n") {
		t.Errorf("diff:\n%s", got)
	}
	if got := cli("logs"); !strings.HasPrefix(got, "[FAIL] service:test (exit code: 1)\n  stdout: ") || !strings.Contains(got, "wrong sum") {
		t.Errorf("logs:\n%s", got)
	}
	must.Equal(t, "Steering signal sent. Use 'ringback status' to monitor.\n", cli("steer", lastRequest(t, cli), "-p", "Fix Add, its test fails"), "steer")
	must.Eventually(t, "the second round", func() bool { return status() == "Status: awaiting_approval" })
	prompt := api.Requests()[len(api.Requests())-1].Text()
	for _, want := range []string{"This is round 2 of at most 3.", "Fix Add, its test fails", "added add_more.go (+3/-0)", "wrong sum"} {
		must.Contain(t, prompt, want, "the steering prompt")
	}
	if got := cli("logs", "--verifier", "test"); !strings.HasPrefix(got, "[PASS] service:test (exit code: 0)\n  stdout: ok") {
		t.Errorf("logs:\n%s", got)
	}
	for _, unnamed := range [][]string{{"steer", "-p", "once more"}, {"reject"}, {"cancel", "--yes"}, {"retry"}, {"cancel", ""}} {
		if got := cli(unnamed...); !strings.Contains(got, "name the job") && !strings.Contains(got, "empty argument") || status() != "Status: awaiting_approval" {
			t.Errorf("%v: %s", unnamed, got)
		}
	}
	cli("steer", lastRequest(t, cli), "--prompt", "Add Mul too")
	must.Eventually(t, "the third round", func() bool { return status() == "Status: awaiting_approval" })
	if got := cli("diff", "--full", "--file", "mul.go"); !strings.Contains(got, "+func Mul(a, b int) int { return a * b }") || strings.Contains(got, "add.go") {
		t.Errorf("diff --full --file:\n%s", got)
	}
	if got := cli("steer", lastRequest(t, cli), "-p", "once more"); !strings.Contains(got, "which is the limit") || status() != "Status: awaiting_approval" {
		t.Errorf("over the limit: %s", got)
	}
	for _, unseen := range [][]string{{"approve"}, {"approve", "--yes"}, {"approve", lastRequest(t, cli)}} {
		if got := cli(unseen...); !strings.Contains(got, "not a terminal") || status() != "Status: awaiting_approval" {
			t.Errorf("%v: %s", unseen, got)
		}
	}
	must.Contain(t, cli("approve", lastRequest(t, cli), "--yes"), "pushed to ringback/req_", "approve")
	id := lastRequest(t, cli)
	checkPushed(t, remote, id, "add.go", "add_more.go", "mul.go")
	checkSteering(t, n, id)
	var kinds []string
	for range 4 {
		kinds = append(kinds, hook.Next(t)["type"].(string))
	}
	must.Equal(t, []string{"checkpoint.opened", "checkpoint.opened", "checkpoint.opened", "job.received"}, kinds, "the webhook was told")
}

func checkPushed(t *testing.T, remote, id string, files ...string) {
	t.Helper()
	if got := strings.Fields(harness.Git(t, remote, "diff", "--name-only", "main", "ringback/"+id)); !cmp.Equal(files, got) {
		t.Errorf("the branch changes %v, want %v", got, files)
	}
	must.Equal(t, "Ringback|Fix the sum\n", harness.Git(t, remote, "log", "-1", "--format=%an|%s", "ringback/"+id), "the commit is")
}

func checkSteering(t *testing.T, n *rig.Node, id string) {
	t.Helper()
	state := n.Want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)
	history := state["history"].([]any)
	if state["current_iteration"] != 2.0 || state["max_iterations"] != 2.0 || len(history) != 2 {
		t.Fatalf("steering is %v", state)
	}
	first := history[0].(object)
	if first["iteration_number"] != 1.0 || first["prompt"] != "Fix Add, its test fails" || first["timestamp"] == nil ||
		!cmp.Equal([]any{"service/add.go", "service/add_more.go"}, first["files_modified"]) || !strings.Contains(first["output"].(string), "Round 2") {
		t.Errorf("the first iteration is %v", first)
	}
	result := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["result"].(object)
	if list := result["finalized"].([]any); len(list) != 1 || list[0].(object)["branch"] != "ringback/"+id || list[0].(object)["commit"] == nil {
		t.Errorf("finalized is %v", list)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func lastRequest(t *testing.T, cli func(...string) string) string {
	t.Helper()
	var j object
	must.OK(t, json.Unmarshal([]byte(cli("status", "-o", "json")), &j))
	return j["requestId"].(string)
}

func TestRejectedChangeIsNotPushed(t *testing.T) {
	t.Parallel()
	remote := rig.GoRepository(t, "service")
	n := rig.Start(t, vars{"NODE_TIMEOUT": "1h"})
	id := n.Create(t, object{"kind": "code-change", "userId": "u1", "input": object{
		"prompt": "x", "repos": []any{object{"url": remote}}, "verifiers": []any{object{"name": "test", "command": "true"}},
	}})
	n.OpenCheckpoint(t, id, "awaiting_approval")
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/reject", object{"reason": "not now"})
	if j := n.Await(t, id, "rejected"); j["errorCode"] != "rejected" {
		t.Errorf("the job is %v", j)
	}
	must.NotContain(t, harness.Git(t, remote, "branch", "--list"), "ringback", "the remote has")
	workspace := filepath.Join(n.Dir, "workspaces", id) // the sweep, with the heartbeats, would come minutes later
	must.Eventually(t, "the workspace to be removed", func() bool { _, err := os.Stat(workspace); return os.IsNotExist(err) })
	for _, query := range []string{"", "?from=1", "?file=SIMULATED.md&from=1"} {
		if diffs := list(t, n, "/api/jobs/"+id+"/diff"+query); len(diffs) != 1 || !strings.Contains(rig.JSON(diffs), "+- x") {
			t.Errorf("then the diff%s is %v", query, diffs)
		}
	}
	if logs := list(t, n, "/api/jobs/"+id+"/logs"); len(logs) != 1 {
		t.Errorf("then the verifiers' output is %v", logs)
	}
	if refused := n.Want(t, 409, "GET", "/api/jobs/"+id+"/diff?file=SIMULATED.md&from=1&context=9", nil); !strings.Contains(refused["hint"].(string), "The workspace of a rejected change was removed") {
		t.Errorf("all lines of a file are refused with %v", refused)
	}
	n.Want(t, 409, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "more"})
	n.Want(t, 409, "POST", "/api/jobs/"+id+"/approve", nil)
}

// As a new user starts it: every path is relative to the directory of serve.
func TestSteeringWithRelativePaths(t *testing.T) {
	t.Parallel()
	for name, bin := range map[string]string{"simulated": "no-claude-here", "CLAUDE_BIN is relative": "./tools/claude"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cwd, remote := t.TempDir(), rig.GoRepository(t, "service")
			rig.WriteFiles(t, cwd, map[string]string{
				"tools/claude":                "#!/bin/bash" + harness.SubmitsChange,
				"prompts/careful.md":          "---\nworkspace: {}\nreview: true\nfinalize: ['echo https://git.example.com/pull/1']\n---\nChange it.\n",
				"schemas/careful.result.json": `{"type": "object", "properties": {"summary": {"type": "string"}}}`,
			})
			n := rig.StartIn(t, cwd, vars{"DATA_DIR": "./data", "PROMPTS_DIR": "./prompts", "SCHEMAS_DIR": "schemas", "CLAUDE_BIN": bin})
			id := n.Create(t, object{"kind": "careful", "userId": "u1", "input": object{"prompt": "one", "repos": []any{object{"url": remote}}}})
			n.OpenCheckpoint(t, id, "awaiting_approval")
			n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "two"})
			n.OpenCheckpoint(t, id, "awaiting_approval")
			n.Approve(t, id)
			n.Await(t, id, "received")
			must.Equal(t, "- one\n- two\n", harness.Git(t, remote, "show", "ringback/"+id+":SIMULATED.md"), "what was pushed is")
		})
	}
}

// Paths of repositories are relative to the command line's directory; the server accepts no
// relative ones.
func TestRelativeRepositories(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	remote := rig.GoRepository(t, "service")
	cmd := exec.Command(harness.Binary(), "run", "--repo", "./"+filepath.Base(remote), "--prompt", "x", "--require-approval")
	cmd.Dir = filepath.Dir(remote)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "RINGBACK_URL=" + n.URL, "RINGBACK_USER=u1"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "ringback approve") {
		t.Errorf("run --repo ./service.git: %v\n%s", err, out)
	}
	input := object{"prompt": "x", "repos": []any{object{"url": "../service.git"}}}
	answer := fmt.Sprint(n.Want(t, 400, "POST", "/api/jobs", object{"kind": "code-change", "userId": "u1", "input": input}))
	must.Contain(t, answer, "/input/repos/0/url")
	must.Contain(t, answer, "an absolute path")
}

// A person who plays Claude finds the repositories prepared, and their changes are
// reviewed, steered and pushed like any others.
func TestAChangeThatAPersonMakesByHand(t *testing.T) {
	t.Parallel()
	remote := rig.GoRepository(t, "service")
	n := rig.Start(t, vars{"DATA_DIR": t.TempDir(), "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t)})
	cli := rig.CommandLine(t, n)
	id := n.Create(t, object{
		"kind": "code-change", "userId": "u1", "options": object{"simulate": "manual"},
		"input": object{"prompt": "Fix the sum", "repos": []any{object{"url": remote}}, "verifiers": []any{object{"name": "test", "command": "grep 'a + b' add.go"}}},
	})
	round := func(file, text string) (signature string) {
		t.Helper()
		values := handValues(t, n, id)
		dir := values["directory"].(string)
		must.Contain(t, cli("callback", id, "--env"), "WORKING_DIRECTORY="+dir+"\n", "ringback callback shows")
		rig.WriteFiles(t, filepath.Join(dir, "service"), map[string]string{file: text})
		n.Want(t, 200, "POST", "/api/claude/result", object{"requestId": id, "hmac": values["hmac"], "summary": "Wrote " + file + "."})
		n.OpenCheckpoint(t, id, "awaiting_approval")
		return values["hmac"].(string)
	}
	first := round("more.go", "package service\n")
	must.Contain(t, cli("logs", id), "[FAIL] service:test", "the logs of the first round")
	n.Want(t, 409, "GET", "/api/jobs/"+id+"/files", nil)
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "The test fails"})
	n.Await(t, id, "running")
	if second := round("add.go", "package service\n\nfunc Add(a, b int) int { return a + b }\n"); second == first {
		t.Error("the second round takes the signature of the first")
	}
	must.Contain(t, cli("logs", id), "[PASS] service:test", "the logs of the second round")
	n.Approve(t, id)
	if j := n.Await(t, id, "received"); j["claudeTurns"] != 2.0 || j["turn"] != 3.0 {
		t.Errorf("after two rounds, Claude had %v of %v turns", j["claudeTurns"], j["turn"])
	}
	checkPushed(t, remote, id, "add.go", "more.go")
}

// handValues waits until the repositories of a change played by hand are ready, and returns
// the values for the person.
func handValues(t testing.TB, n *rig.Node, id string) (values object) {
	t.Helper()
	must.Eventually(t, "the repositories to be ready", func() bool {
		status, answer := n.Do(t, "GET", "/api/jobs/"+id+"/callback", nil)
		values = answer
		return status == 200
	})
	return values
}

// A change was accepted that is too large for a copy, and its files are gone when the server is back:
// there is nothing to continue with, so Claude is asked again, and the new result counts.
func TestAnAcceptedChangeWithoutItsFilesIsAskedForAgain(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"DATA_DIR": t.TempDir(), "NODE_TIMEOUT": "1s", "RETRY_BACKOFF": "50ms", "CHANGE_LIMIT": "1KiB", "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t)})
	id := n.Create(t, object{
		"kind": "code-change", "userId": "u1", "options": object{"simulate": "manual"},
		"input": object{"prompt": "Fix the sum", "repos": []any{object{"url": rig.GoRepository(t, "service")}}, "verifiers": []any{object{"name": "slow", "command": "test -e more.go || sleep 1000"}}},
	})
	values := handValues(t, n, id)
	var large strings.Builder
	for range 400 {
		large.WriteString(rand.Text() + "\n")
	}
	rig.WriteFiles(t, filepath.Join(values["directory"].(string), "service"), map[string]string{"large.txt": large.String()})
	n.Want(t, 200, "POST", "/api/claude/result", object{"requestId": id, "hmac": values["hmac"], "summary": "Wrote it."})
	must.Eventually(t, "the verifier to run", func() bool { return n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["phase"] == "verifying" })
	n.Kill(t)
	must.OK(t, os.RemoveAll(filepath.Join(n.Dir, "workspaces")))
	again := rig.Start(t, n.Env)
	must.Eventually(t, "the change to be asked for again", func() bool { return handValues(t, again, id)["hmac"] != values["hmac"] })
	values = handValues(t, again, id)
	rig.WriteFiles(t, filepath.Join(values["directory"].(string), "service"), map[string]string{"more.go": "package service\n"})
	again.Want(t, 200, "POST", "/api/claude/result", object{"requestId": id, "hmac": values["hmac"], "summary": "Wrote it once more."})
	again.OpenCheckpoint(t, id, "awaiting_approval")
	must.Contain(t, again.Log.String(), "files of a submitted change are missing", "the log does not say why")
}

// A change played by hand survives a restart of its server, and its timeouts apply as
// usual.
func TestAChangeByHandOutlivesItsServer(t *testing.T) {
	t.Parallel()
	remote := rig.GoRepository(t, "service")
	n := rig.Start(t, vars{"DATA_DIR": t.TempDir(), "NODE_TIMEOUT": "1s", "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t)})
	id := n.Create(t, object{
		"kind": "code-change", "userId": "u1", "options": object{"simulate": "manual"}, "input": object{"prompt": "Fix the sum", "repos": []any{object{"url": remote}}},
	})
	values := handValues(t, n, id)
	must.Eventually(t, "the turn to have its process", func() bool { return strings.Contains(n.Log.String(), "turn started") })
	rig.WriteFiles(t, filepath.Join(values["directory"].(string), "service"), map[string]string{"more.go": "package service\n"})
	again := n.Again(t)
	if now := handValues(t, again, id); now["hmac"] != values["hmac"] || now["directory"] != values["directory"] {
		t.Errorf("the turn is another one: %v, and was %v", now, values)
	}
	again.Want(t, 200, "POST", "/api/claude/result", object{"requestId": id, "hmac": values["hmac"], "summary": "Wrote it."})
	again.OpenCheckpoint(t, id, "awaiting_approval")
	again.Want(t, 200, "POST", "/api/jobs/"+id+"/reject", nil)
	again.Await(t, id, "rejected")
}

func TestSteerWhileATurnRuns(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	remote := rig.GoRepository(t, "service")
	release := make(chan struct{})
	n, api := rig.RealClaude(t, nil, rig.PlayChanges(
		func(string) (string, string) { <-release; return "service/one.go", "package service\n" },
		rig.Writes("service/two.go", "package service\n"),
	))
	id := n.Create(t, object{"kind": "code-change", "userId": "u1", "input": object{"prompt": "x", "repos": []any{object{"url": remote}}, "max_steering_iterations": 1}})
	must.Eventually(t, "Claude to work", func() bool { return n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["status"] == "running" })
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "and the second file"})
	n.Want(t, 409, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "too much"})
	close(release)
	record := n.Await(t, id, "awaiting_approval")
	must.Equal(t, 1, strings.Count(rig.WholeText(api.Requests()[len(api.Requests())-1]), "and the second file"), "the wish reached Claude … times")
	// It is neither a separate round nor an answer to the review.
	if state := n.Want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil); state["current_iteration"] != 0.0 || record["turn"] != 1.0 {
		t.Errorf("the rounds are %v, in turn %v", state, record["turn"])
	}
	if word := record["words"].([]any)[0].(object); word["hearing"] != "heard" {
		t.Errorf("the record says %v", word)
	}
}

func TestReviewInSlack(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	remote := rig.GoRepository(t, "service")
	posts := make(chan object, 100)
	var failures atomic.Int32
	channel := rig.StartHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if failures.Add(1) == 1 { // the first one fails, which must not delay anything else
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var post object
		if err := json.NewDecoder(r.Body).Decode(&post); err != nil {
			t.Error(err)
		}
		posts <- post
	}))
	const secret = "the signing secret of an app"
	n, _ := rig.RealClaude(t, vars{"SLACK_WEBHOOK_URL": channel + "/services/planted", "SLACK_SIGNING_SECRET": secret}, rig.PlayChanges(
		rig.Writes("service/one.go", "package service\n"), rig.Writes("service/two.go", "package service\n"),
	))
	typed := func(text string) object { return typeInSlack(t, n, secret, text) }
	id := n.Create(t, object{"kind": "code-change", "userId": "u1", "input": object{"prompt": "x", "repos": []any{object{"url": remote}}}})
	n.OpenCheckpoint(t, id, "awaiting_approval")
	first := rig.Next(t, posts)["text"].(string)
	for _, want := range []string{"Claude completed " + id + ".", "**service**: 1 file changed, +1, -0\n  - one.go (added, +1/-0)", "Reply: `approve`, `reject`, or `steer \"&lt;prompt&gt;\"`"} {
		must.Contain(t, first, want, "the channel was told")
	}
	if status, _ := n.Do(t, "POST", "/api/slack/commands", "text=approve", "X-Slack-Request-Timestamp", strconv.FormatInt(time.Now().Unix(), 10), "X-Slack-Signature", "v0=00"); status != 401 {
		t.Errorf("a forged command was answered %d", status)
	}
	for _, other := range []string{"steer “and the second file”", "reject", "reject not now", "cancel", "cancel " + id + ", please"} {
		if answer := typed(other); answer["response_type"] != "ephemeral" {
			t.Errorf("%q, which names no job, was answered %v", other, answer)
		}
	}
	if answer := typed("steer " + id + ": “and the second file”"); answer["response_type"] != "in_channel" {
		t.Errorf("steer was answered %v", answer)
	}
	if second := rig.Next(t, posts)["text"].(string); !strings.Contains(second, "Steering iteration 1 complete for "+id+".\n\nUpdated changes:\n") || !strings.Contains(second, "\nThis is round 2.\n") || !strings.Contains(second, "two.go") {
		t.Errorf("after the iteration, the channel was told %s", second)
	}
	for _, older := range []string{"approve", "approve " + id, "approve " + id + " 0", "approve " + id + " 1", "approve " + id + " 3", "approve " + reviewed(t, first), "approve " + id + " 02", "approve " + id + " 2 please", "approve 2"} {
		if answer := typed(older); answer["response_type"] != "ephemeral" {
			t.Errorf("%q, which does not name what is under review, was answered %v", older, answer)
		}
	}
	if answer := typed("approve " + id + " 2"); answer["text"] != "ana: approve "+id {
		t.Errorf("approve was answered %v", answer)
	}
	if end := rig.Next(t, posts)["text"].(string); !strings.Contains(end, "is received") || !strings.Contains(end, "pushed to ringback/"+id) {
		t.Errorf("in the end, the channel was told %s", end)
	}
	if log := n.Audit(t, id); !cmp.Equal([]string{"asked", "steer", "asked", "approve", "finished"}, log) {
		t.Errorf("the audit log says %v", log)
	}
}

// After a retry, a round may contain something else than what was read in Slack: its number approves nothing.
func TestARoundMadeAgainIsNotApprovedByItsNumber(t *testing.T) {
	t.Parallel()
	remote := rig.GoRepository(t, "service")
	const secret = "the signing secret of an app"
	n := rig.Start(t, vars{"SLACK_SIGNING_SECRET": secret})
	id := n.Create(t, object{"kind": "code-change", "userId": "u1", "input": object{"prompt": "x", "repos": []any{object{"url": remote}}}})
	n.OpenCheckpoint(t, id, "awaiting_approval")
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/retry", nil)
	again := fmt.Sprint(n.OpenCheckpoint(t, id, "awaiting_approval")["id"])
	if answer := typeInSlack(t, n, secret, "approve "+id+" 1"); answer["response_type"] != "ephemeral" || !strings.HasSuffix(fmt.Sprint(answer["text"]), "approve "+again) {
		t.Errorf("the round as it was before the retry was answered %v", answer)
	}
	if answer := typeInSlack(t, n, secret, "approve "+again); answer["text"] != "ana: approve "+id {
		t.Errorf("approve was answered %v", answer)
	}
}

// reviewed returns the checkpoint that a message in Slack tells how to approve.
func reviewed(t *testing.T, message string) string {
	t.Helper()
	_, checkpoint, found := strings.Cut(message, "/ringback approve ")
	if !found || !strings.HasPrefix(checkpoint, "chk_") {
		t.Fatalf("the message does not say how to approve it: %s", message)
	}
	return checkpoint
}

// The server is killed while a verifier runs, and again while the approved change is
// published: each is repeated, and Claude is not started for it.
func TestSteeringSurvivesTheServersDeath(t *testing.T) {
	t.Parallel()
	remote := rig.GoRepository(t, "service")
	gates := t.TempDir()
	at := func(name string) string { return filepath.Join(gates, name) }
	wait := func(name string) string {
		return "touch " + at(name) + ".reached; while [ ! -e " + at(name) + ".open ]; do sleep 0.05; done"
	}
	prompts := rig.KindsDir(t, "gated-change.md", "---\nworkspace: {}\nreview: true\nverifiers: [{slow: '"+wait("verify")+"'}]\nfinalize: ['"+wait("finalize")+"; echo https://example.com/pull/7']\n---\nChange it.")
	schemas := rig.KindsDir(t, "gated-change.result.json", `{"type":"object","required":["summary"]}`)
	n, api := rig.RealClaude(t, vars{
		"DATA_DIR": t.TempDir(), "NODE_TIMEOUT": "1s", "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t), "PROMPTS_DIR": prompts, "SCHEMAS_DIR": schemas,
		"SANDBOX": "off", // the gates are outside
	}, rig.PlayChanges(rig.Writes("service/x.go", "package service\n")))
	id := n.Create(t, object{"kind": "gated-change", "userId": "u1", "input": object{"prompt": "x", "repos": []any{object{"url": remote}}}})
	restartAt := func(name string) {
		t.Helper()
		must.Eventually(t, name+" to run", func() bool { _, err := os.Stat(at(name) + ".reached"); return err == nil })
		n.Kill(t)
		must.OK(t, os.Remove(at(name)+".reached"))
		n = rig.Start(t, n.Env)
		must.Eventually(t, name+" to run again", func() bool { _, err := os.Stat(at(name) + ".reached"); return err == nil })
		must.Eventually(t, "one of "+name+" to run", func() bool { // a freshly forked shell counts twice
			return len(rig.CommandsLike(at(name)+".reached; while")) == 1
		})
		must.OK(t, os.WriteFile(at(name)+".open", nil, 0o600))
	}
	restartAt("verify")
	n.OpenCheckpoint(t, id, "awaiting_approval")
	asked := len(api.Requests())
	n.Approve(t, id)
	restartAt("finalize")
	result := n.Await(t, id, "received")["result"].(object)
	if done := result["finalized"].([]any)[0].(object); done["url"] != "https://example.com/pull/7" {
		t.Errorf("finalized: %v", done)
	}
	harness.Git(t, remote, "rev-parse", "ringback/"+id)
	if got := len(api.Requests()); got != asked {
		t.Errorf("Claude was asked %d times more", got-asked)
	}
}

func TestWorkspaceGoesWithItsJob(t *testing.T) {
	t.Parallel()
	remote := rig.GoRepository(t, "service")
	n := rig.Start(t, vars{"HUMAN_TIMEOUT": "2s", "RETENTION": "2s", "NODE_TIMEOUT": "1s"})
	id := n.Create(t, object{"kind": "code-change", "userId": "u1", "input": object{"prompt": "x", "repos": []any{object{"url": remote}}}})
	n.OpenCheckpoint(t, id, "awaiting_approval")
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
	workspace := filepath.Join(n.Dir, "workspaces", id)
	if _, err := os.Stat(workspace); err != nil {
		t.Errorf("it is gone before its job: %v", err)
	}
	must.Eventually(t, "the workspace to be removed", func() bool { _, err := os.Stat(workspace); return os.IsNotExist(err) })
}

func TestRepositoryThatCannotBeCloned(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"RETRY_BACKOFF": "10ms", "REPOSITORY_PRIVATE": "true"})
	change := func(url string) object {
		return object{"kind": "code-change", "userId": "u1", "input": object{"prompt": "x", "repos": []any{object{"url": url}}}}
	}
	for url, says := range map[string]string{
		"https://user:hunter2@127.0.0.1:1/service.git": "leave it out",
		"ext::sh -c touch% x":                          "expected",
		"/no/such/repository":                          "does not exist",
		"file:///no/such/repository":                   "does not exist",
		n.Dir + "/../":                                 "a directory without a repository",
	} {
		text := fmt.Sprint(n.Want(t, 400, "POST", "/api/jobs", change(url)))
		if !strings.Contains(text, "/input/repos/0/url") || !strings.Contains(text, says) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %s", url, text)
		}
	}
	for url, says := range map[string]string{
		"https://127.0.0.1:1/service.git": "repository service: git clone",
	} {
		id := n.Create(t, change(url))
		record := n.Await(t, id, "failed")
		if text := record["error"].(string); record["errorCode"] != "workspace" || !strings.Contains(text, says) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %v %s", url, record["errorCode"], text)
		}
	}
}

// A user's token must not run commands on the server, nor read its disk.
func TestUsersBringNoCommands(t *testing.T) {
	t.Parallel()
	const secret = "a-secret-of-at-least-32-characters"
	n := rig.Start(t, vars{"API_KEYS": "a-key-of-the-back-end", "JWT_SECRET": secret, "CLAUDE_BIN": "simulate"})
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject: "u1", ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Minute)),
	}).SignedString([]byte(secret))
	must.OK(t, err)
	remote := object{"url": "https://git.invalid/service.git"}
	for name, c := range map[string]struct {
		input  object
		status int
	}{
		"verifiers":  {object{"prompt": "x", "repos": []any{remote}, "verifiers": []any{object{"name": "v", "command": "id"}}}, 403},
		"a path":     {object{"prompt": "x", "repos": []any{object{"url": "/etc"}}}, 403},
		"a file URL": {object{"prompt": "x", "repos": []any{object{"url": "file:///etc"}}}, 403},
		"a remote":   {object{"prompt": "x", "repos": []any{remote}}, 202},
	} {
		if status, answer := n.Do(t, "POST", "/api/jobs", object{"kind": "code-change", "input": c.input}, "Authorization", "Bearer "+token); status != c.status {
			t.Errorf("%s was answered %d %v", name, status, answer)
		}
	}
}
