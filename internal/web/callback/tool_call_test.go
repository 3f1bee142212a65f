package callback_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

// uses returns the CLI hook's report of a shell command.
func uses(id, command string) object {
	return object{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id, "cwd": "/work", "tool_input": object{"command": command}}
}

// decision returns the answer to the hook: allow, deny, defer, or nothing, which leaves
// the call to the CLI's own allowlist.
func (a answer) decision() (decision, reason string) {
	output, _ := a.Body["hookSpecificOutput"].(object)
	decision, _ = output["permissionDecision"].(string)
	reason, _ = output["permissionDecisionReason"].(string)
	return decision, reason
}

// decides returns the decision about a call of a tool.
func (t *turn) decides(call object) string {
	t.t.Helper()
	decision, _ := t.want(200, "tool-calls", call).decision()
	return decision
}

func TestWhatTheHookIsAnswered(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	const post = "curl -sS -X POST http://localhost:3001/api/claude/result -H 'Content-Type: application/json' -d @result.json"
	for name, row := range map[string]struct {
		call     object
		decision string
		says     string
		audit    []string
	}{
		"what a rule allows runs":                {uses("toolu_1", "ls -la"), "allow", "", nil},
		"what a rule denies does not":            {uses("toolu_1", "rm x"), "deny", "Bash(rm *)", []string{"refused"}},
		"what a rule asks for waits":             {uses("toolu_1", "id"), "defer", "Stop now", []string{"asked"}},
		"calling back is left to the CLI":        {uses("toolu_1", post), "", "", nil},
		"what no rule speaks of is left to it":   {object{"tool_name": "WebFetch", "tool_use_id": "toolu_1", "cwd": "/work", "tool_input": object{"url": "https://example.com"}}, "", "", nil},
		"what a rule denies of calling back":     {uses("toolu_1", post+" -d @secret.json"), "deny", "secret", []string{"refused"}},
		"calling back and something else is not": {uses("toolu_1", post+"; rm x"), "deny", "Bash(rm *)", []string{"refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			turn := s.start("careful")
			decision, reason := turn.want(200, "tool-calls", row.call).decision()
			must.Equal(t, row.decision, decision, reason)
			must.Contain(t, reason, row.says)
			must.Equal(t, row.audit, turn.audit(), "the audit log")
		})
	}
}

// The hook asks again when its turn continues, and gets the person's decision, once.
func TestWhatAPersonDecidesOfACall(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		given    checkpoint.Reply
		decision string
		says     string
		// input is the command that runs instead of the requested one.
		input string
		// again is the answer to the same call after that, other that to another one.
		again, other string
	}{
		"yes": {checkpoint.Reply{Decision: job.Approve}, "allow", "", "", "defer", "deny"},
		"yes, with another input": {
			checkpoint.Reply{Decision: job.Approve, Values: object{"command": "id -u"}}, "allow", "", "id -u", "defer", "deny",
		},
		"no":                 {checkpoint.Reply{Decision: job.Deny}, "deny", job.DeniedByUser, "", "defer", "deny"},
		"no, and why":        {checkpoint.Reply{Decision: job.Deny, Text: "Not now"}, "deny", "Not now", "", "defer", "deny"},
		"something else":     {checkpoint.Reply{Decision: job.Steer, Text: "Only the name"}, "deny", "They want something else", "", "defer", "deny"},
		"yes to all in this": {checkpoint.Reply{Decision: job.Approve, Scope: job.ForJob}, "allow", "", "", "allow", "allow"},
		"yes to all, always": {checkpoint.Reply{Decision: job.Approve, Scope: job.Always}, "allow", "", "", "allow", "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := startServer(t, callback.Options{}).start("careful")
			turn.want(200, "tool-calls", uses("toolu_1", "id"))
			turn.reply(row.given)
			turn.resume()
			a := turn.want(200, "tool-calls", uses("toolu_1", "id"))
			decision, reason := a.decision()
			must.Equal(t, row.decision, decision, reason)
			must.Contain(t, reason, row.says)
			output, _ := a.Body["hookSpecificOutput"].(object)
			updated, _ := output["updatedInput"].(object)
			input, _ := updated["command"].(string)
			must.Equal(t, row.input, input, "it runs with")
			must.Equal(t, row.again, turn.decides(uses("toolu_2", "id")), "the same call again")
			must.Equal(t, row.other, turn.decides(uses("toolu_3", "pwd")), "another call")
		})
	}
}

// The files with which Claude calls back need no rule, unless they are links to other files.
func TestFilesToCallBackWith(t *testing.T) {
	t.Parallel()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for name, target := range map[string]string{"result.json": ".env", "checkpoint.json": "/proc/self/environ", "action.json": "action.json", "up": "/etc"} {
		must.OK(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	server := startServer(t, callback.Options{WorkDir: func(string, job.ID) string { return dir }})
	for _, row := range []struct{ tool, path, decision string }{
		{"Read", "result.json", "deny"},
		{"Read", dir + "/result.json", "deny"},
		{"Write", "result.json", "defer"},
		{"Read", "checkpoint.json", "defer"},
		{"Write", "checkpoint.json", "defer"},
		{"Read", "action.json", "defer"},
		{"Write", "up/../failure.json", "defer"},
		{"Read", "failure.json", ""},
		{"Write", dir + "/failure.json", ""},
	} {
		call := object{"tool_name": row.tool, "tool_use_id": "toolu_1", "cwd": dir, "tool_input": object{"file_path": row.path}}
		must.Equal(t, row.decision, server.start("files").decides(call), row.tool, row.path)
	}
}

// A person learns at once that a rule denies the input as they have changed it.
func TestAnEditedInputThatARuleForFilesDenies(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("files")
	work := "/data/jobs/" + string(turn.id) + "/work"
	turn.want(200, "tool-calls", object{
		"tool_name": "Write", "tool_use_id": "toolu_1", "cwd": work, "tool_input": object{"file_path": work + "/a", "content": "x"},
	})
	question := *turn.job().Checkpoint
	edited := func(path string) error {
		_, err := turn.checkpoints.Reply(t.Context(), question, checkpoint.Reply{
			Decision: job.Approve, Values: object{"file_path": path, "content": "x"}, By: job.Actor{UserID: "u1", Via: job.ViaAPI},
		})
		return err
	}
	for _, path := range []string{"config/prod.yml", work + "/config/prod.yml", "/other/node/" + string(turn.id) + "/work/config/a", "docs/../config/a"} {
		e, _ := errors.AsType[*job.Error](edited(path))
		must.Contain(t, fmt.Sprint(e.Details), "Write(config/**)", path)
	}
	must.OK(t, edited(work+"/docs/a"))
}

// An approval for one call lets one call run: the same call again, later or at the same
// moment, is asked about again.
func TestAYesForOnceLetsOneCallRun(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	turn := s.start("careful")
	turn.want(200, "tool-calls", uses("toolu_1", "make deploy"))
	turn.reply(checkpoint.Reply{Decision: job.Approve})
	turn.resume()
	var calls sync.WaitGroup
	var allowed atomic.Int64
	for n := range 8 {
		calls.Go(func() {
			if got, _ := turn.call("tool-calls", uses(fmt.Sprint("toolu_", n), "make deploy")).decision(); got == "allow" {
				allowed.Add(1)
			}
		})
	}
	calls.Wait()
	must.Equal(t, 1, allowed.Load(), "one yes let … calls run")
	if j := turn.job(); j.Checkpoint == nil || j.Checkpoint.Type != job.ToolApproval {
		t.Errorf("nobody was asked for the others: the job is %s", j.State)
	}
}

func TestHowFarAStandingApprovalReaches(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		scope   job.ApprovalScope
		revoked bool
		next    string
	}{
		"for the job":              {job.ForJob, false, "defer"},
		"for all jobs":             {job.Always, false, "allow"},
		"for all jobs, taken back": {job.Always, true, "defer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, callback.Options{})
			first := s.start("careful")
			first.want(200, "tool-calls", uses("toolu_1", "id"))
			first.reply(checkpoint.Reply{Decision: job.Approve, Scope: row.scope})
			first.exit()
			first.end(job.Cancelled)
			if row.revoked {
				given := must.Get(s.store.Checkpoints.Approvals(t.Context(), "u1"))(t)
				must.OK(t, s.store.Checkpoints.Revoke(t.Context(), "u1", given[0].ID))
			}
			next := s.start("careful")
			must.Equal(t, row.next, next.decides(uses("toolu_1", "pwd")), "in the next job")
			must.Equal(t, "deny", next.decides(uses("toolu_2", "rm x")), "what is denied")
		})
	}
}

// An earlier version stored the rule that asks: it still permits the calls of its tool.
func TestAStandingApprovalOutlivesTheVersionThatStoredIt(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("writing")
	call := func(id, tool, path string) object {
		return object{"tool_name": tool, "tool_use_id": id, "cwd": "/work", "tool_input": object{"file_path": "/work/config/" + path, "content": path}}
	}
	must.Equal(t, "defer", turn.decides(call("toolu_1", "Write", "a")))
	standing := job.Approval{ID: "apr_1", UserID: "u1", Kind: "writing", Rule: "Write(config/**)"}
	must.Get(turn.jobs.Answer(t.Context(), *turn.job().Checkpoint, lifecycle.Resolution{
		To: job.Answered, Reply: job.Reply{Decision: job.Approve}, Approval: approval.Permission{Scope: job.Always, Life: time.Hour, Standing: &standing},
	}))(t)
	turn.resume()
	must.Equal(t, "allow", turn.decides(call("toolu_1", "Write", "a")))
	must.Equal(t, "allow", turn.decides(call("toolu_2", "Write", "b")), "another file")
	must.Equal(t, "defer", turn.decides(call("toolu_3", "Edit", "b")), "another tool")
}

// One question at a time: calls made at the same time must be made again.
func TestCallsMadeAtOnce(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	for name, first := range map[string]func(*turn){
		"another call": func(turn *turn) { turn.want(200, "tool-calls", uses("toolu_1", "id")) },
		"a question": func(turn *turn) {
			turn.want(200, "checkpoints", object{"type": "information_request", "message": "Which colour?"})
		},
	} {
		t.Run("behind "+name, func(t *testing.T) {
			turn := s.start("careful")
			first(turn)
			waits := turn.job().Checkpoint.ID
			decision, reason := turn.want(200, "tool-calls", uses("toolu_2", "pwd")).decision()
			must.Equal(t, "deny", decision, reason)
			must.Contain(t, reason, "Make this call again")
			if j := turn.job(); j.Checkpoint == nil || j.Checkpoint.ID != waits {
				t.Errorf("the job waits at %v", j.Checkpoint)
			}
		})
	}
}

func TestHooksThatAreNone(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("careful")
	for _, hook := range []struct {
		payload object
		wrong   string
	}{
		{object{"tool_input": object{}}, "/tool_name"},
		{object{"tool_name": "Bash"}, "/tool_input"},
		{object{"tool_name": "Bash", "tool_input": "id"}, "/tool_input"},
		{object{"hook_event_name": "Start"}, "/hook_event_name"},
		{object{"hook_event_name": object{}}, "/hook_event_name"},
		{object{"hook_event_name": "Stop", "tool_name": object{"a": nil}}, "/tool_name"},
		{object{"hook_event_name": "Stop", "background_tasks": "make"}, "/background_tasks"},
		{object{"hook_event_name": "PostToolBatch", "tool_calls": object{}}, "/tool_calls"},
		{object{"hook_event_name": "PostToolBatch", "background_tasks": 1}, "/background_tasks"},
	} {
		if a := turn.call("tool-calls", hook.payload); a.Status != 400 || a.details()[hook.wrong] == "" {
			t.Errorf("%v: answered %d %v", hook.payload, a.Status, a.Body)
		}
	}
	turn.end(job.Failed)
	turn.want(404, "tool-calls", uses("toolu_1", "ls")) // even what is allowed does not run
}

// A person is asked about the whole input, in one order, however Claude wrote it.
func TestAPersonIsShownTheWholeInput(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	long := strings.Repeat("x", 5000)
	for name, row := range map[string]struct {
		input object
		want  []string
	}{
		"a field that poses as the command": {
			object{"command": "id", "url": "https://example.com", "file_path": "notes.md"},
			[]string{"Claude wants to use Bash in the directory \"/work\":\n{\n  \"command\": \"id\",\n  \"file_path\": \"notes.md\",\n  \"url\": \"https://example.com\"\n}\nAllow it?"},
		},
		"a text that poses as another field": {
			object{"command": "id\",\n  \"timeout\": \"5"}, []string{`"command": "id\",\n  \"timeout\": \"5"`},
		},
		"an end that is far away": {
			object{"a": long, "command": "id " + long + "; reboot"}, []string{"bytes are left out here", `; reboot"`},
		},
		"letters that move others": {object{"command": "id\u202e\u00a0"}, []string{`"id\u202e\u00a0"`}},
	} {
		t.Run(name, func(t *testing.T) {
			turn := s.start("careful")
			turn.want(200, "tool-calls", object{"tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": "/work", "tool_input": row.input})
			c := turn.job().Checkpoint
			for _, want := range row.want {
				must.Contain(t, c.Message, want, "the question")
			}
		})
	}
}
