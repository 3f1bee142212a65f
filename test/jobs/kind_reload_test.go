package jobs

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// Files of kinds change under two servers: one is asked to load them again, the other watches
// them. Neither takes half of a change, and a job keeps its version until somebody moves it.
func TestKindsAreReloaded(t *testing.T) {
	t.Parallel()
	const trip = `---
actions: [{name: book, confirm: always, command: ['true']}]
---
Plan.`
	dir, redis := rig.KindsDir(t, "trip.md", trip, "trip.result.json", `{"type": "object", "required": ["old"]}`), rig.StartRedis(t).URL
	env := vars{"REDIS_URL": redis, "PROMPTS_DIR": dir, "SCHEMAS_DIR": dir, "HOLD": "0s"}
	n, watching := rig.Start(t, env), rig.Start(t, env, "--watch", "--role", "api")
	write := func(name, text string) {
		t.Helper()
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	version := func(of *rig.Node, kind string) any {
		t.Helper()
		_, answer := of.Do(t, "GET", "/api/kinds/"+kind, nil)
		return answer["version"]
	}
	logged := func(of *rig.Node, words ...string) bool {
		for line := range strings.Lines(of.Log.String()) {
			all := true
			for _, word := range words {
				all = all && strings.Contains(line, word)
			}
			if all {
				return true
			}
		}
		return false
	}
	book := func(envelope object) any {
		return n.Want(t, http.StatusOK, "POST", "/api/claude/actions/book", rig.With(envelope, object{"input": object{}}))["status"]
	}
	id, envelope := n.Manual(t, object{"kind": "trip", "userId": "u1", "input": object{}})
	if status := book(envelope); status != "pending_confirmation" {
		t.Fatalf("the action is %v", status)
	}
	before := n.Await(t, id, "awaiting_approval")["kindVersion"]

	documents := func(of *rig.Node, have bool) {
		t.Helper()
		for _, document := range []string{"/openapi.json", "/asyncapi.json"} {
			must.Equal(t, have, strings.Contains(of.Text(t, document), "zebra"), document, "has the new kind")
		}
	}
	documents(n, false)
	documents(watching, false)

	// One file of several is wrong: nothing changes.
	write("zebra.md", "---\nmax_turns: many\n---\nDo it.")
	write("trip.md", "Plan otherwise.")
	write("trip.result.json", `{"type": "object", "required": ["new"]}`)
	refused := n.Want(t, http.StatusConflict, "POST", "/api/kinds/reload", nil)
	must.Contain(t, rig.JSON(refused), "zebra.md:2: ", "the reload is refused by")
	must.Eventually(t, "the change to be refused where it is seen", func() bool { return logged(watching, "kinds not reloaded", "by=watch", "zebra.md:2: ") })
	if !logged(n, "kinds not reloaded", "by=api", "zebra.md:2: ") || version(n, "trip") != before || version(watching, "trip") != before {
		t.Error("a refused reload has changed a kind, or is not in the log")
	}

	write("zebra.md", "Do it.")
	must.OK(t, n.Cmd.Process.Signal(syscall.SIGHUP))
	for _, node := range []*rig.Node{n, watching} {
		must.Eventually(t, "the kinds to be loaded", func() bool { return version(node, "zebra") != nil })
		if now := version(node, "trip"); now == before {
			t.Error("the kind that was changed is as it was")
		}
		documents(node, true)
	}
	if !logged(n, "kinds reloaded", "by=signal", "added=[zebra]", "changed=[trip]") || !logged(watching, "kinds reloaded", "by=watch") {
		t.Error("the reload is not in the log")
	}
	must.OK(t, os.Remove(filepath.Join(dir, "zebra.md")))
	must.Equal(t, `{"added":[],"changed":[],"removed":["zebra"]}`, rig.JSON(n.Want(t, http.StatusOK, "POST", "/api/kinds/reload", nil)), "the reload answers")
	n.Want(t, http.StatusNotFound, "POST", "/api/jobs", object{"kind": "zebra", "userId": "u1", "input": object{}})

	// A checkout may replace the whole directory.
	must.Eventually(t, "the kind to be gone", func() bool { return version(watching, "zebra") == nil })
	must.OK(t, os.Rename(dir, filepath.Join(t.TempDir(), "before")))
	must.OK(t, os.Mkdir(dir, 0o700))
	write("trip.result.json", `{"type": "object", "required": ["new"]}`)
	write("trip.md", "Plan otherwise.")
	write("yak.md", "Do it.")
	must.Eventually(t, "the new directory to be loaded", func() bool { return version(watching, "yak") != nil && version(watching, "trip") != nil })

	// The job keeps its version until it is moved, which withdraws what it asks by its old rules.
	must.Equal(t, before, n.Await(t, id, "awaiting_approval")["kindVersion"], "the job has the version")
	n.Want(t, http.StatusOK, "POST", "/api/jobs/"+id+"/move", nil)
	n.Renew(t, envelope)
	now := version(n, "trip")
	if moved := n.Await(t, id, "running"); moved["kindVersion"] != now || moved["nextKindVersion"] != nil {
		t.Errorf("the job has the version %v, and next %v", moved["kindVersion"], moved["nextKindVersion"])
	}
	n.Want(t, http.StatusNotFound, "POST", "/api/claude/actions/book", rig.With(envelope, object{"input": object{}}))
	n.Want(t, http.StatusBadRequest, "POST", "/api/claude/result", rig.With(envelope, object{"old": 1}))
	n.Want(t, http.StatusOK, "POST", "/api/claude/result", rig.With(envelope, object{"new": 1}))
	n.Want(t, http.StatusConflict, "POST", "/api/jobs/"+id+"/move", nil)
}

// With the next turn, a moved job begins a new conversation with its new prompt, and hears what was
// answered before.
func TestAMovedJobBeginsANewConversation(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	dir := rig.KindsDir(t, "talk.md", "---\ncallback: mcp\n---\nAs of the morning.")
	submit := rig.Finish(func(messagesapi.Request) bool { return true }, true, "")
	n, claude := rig.RealClaude(t, vars{"PROMPTS_DIR": dir, "HOLD": "0s", "SANDBOX": "auto"}, func(r messagesapi.Request) messagesapi.Reply {
		switch {
		case strings.Contains(rig.WholeText(r), "As of noon."):
			return submit(r)
		case strings.Contains(rig.WholeText(r), "For how many?"):
			return messagesapi.Say("I wait.")
		}
		return rig.UseTool("ask_user", object{"type": "information_request", "message": "For how many?"})
	})
	id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"})
	asked := n.OpenCheckpoint(t, id, "awaiting_input")
	must.OK(t, os.WriteFile(filepath.Join(dir, "talk.md"), []byte("---\ncallback: mcp\n---\nAs of noon."), 0o600))
	n.Want(t, http.StatusOK, "POST", "/api/kinds/reload", nil)
	n.Want(t, http.StatusOK, "POST", "/api/jobs/"+id+"/move", nil)
	n.Want(t, http.StatusOK, "POST", "/api/checkpoints/"+asked["id"].(string)+"/reply", object{"text": "Twelve people"})
	n.Await(t, id, "received")
	last := rig.WholeText(claude.Requests()[len(claude.Requests())-1])
	if strings.Contains(last, "As of the morning.") || !strings.Contains(last, "Twelve people") || strings.Count(last, "As of noon.") != 1 {
		t.Errorf("the new turn reads %s", last)
	}
}
