package jobs

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

// A question is asked in the morning, the kind's files change at noon, and the answer
// arrives after a restart, or at a node that does not have the kind: the job keeps the
// prompt, rules and schemas of the morning.
func TestAParkedJobKeepsItsRules(t *testing.T) {
	t.Parallel()
	const morning = `---
actions: [{name: book, confirm: always, command: ['true']}]
---
Plan.`
	dir, redis := rig.KindsDir(t, "trip.md", morning, "trip.result.json", `{"type": "object", "required": ["old"]}`), rig.StartRedis(t).URL
	n := rig.Start(t, vars{"REDIS_URL": redis, "PROMPTS_DIR": dir, "SCHEMAS_DIR": dir, "HOLD": "0s"})
	elsewhere := rig.Start(t, vars{"REDIS_URL": redis, "HOLD": "0s"})
	trip := object{"kind": "trip", "userId": "u1", "input": object{}}
	id, envelope := n.Manual(t, trip)
	book := func(on *rig.Node, confirmed bool) string {
		return on.Want(t, http.StatusOK, "POST", "/api/claude/actions/book", rig.With(envelope, object{"input": object{}, "confirmed": confirmed}))["status"].(string)
	}
	if status := book(n, false); status != "pending_confirmation" {
		t.Fatalf("the action is %s", status)
	}
	asked := n.Await(t, id, "awaiting_approval")

	for name, text := range map[string]string{"trip.md": "Plan otherwise.", "trip.result.json": `{"type": "object", "required": ["new"]}`} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	n = n.Again(t)
	checkpoint := asked["checkpoint"].(object)["id"].(string)
	n.Want(t, http.StatusOK, "POST", "/api/checkpoints/"+checkpoint+"/reply", object{"decision": "approve"})
	elsewhere.Renew(t, envelope)
	must.Equal(t, "success", book(elsewhere, true), "once allowed, the action is")
	n.Want(t, http.StatusBadRequest, "POST", "/api/claude/result", rig.With(envelope, object{"new": 1}))
	n.Want(t, http.StatusOK, "POST", "/api/claude/result", rig.With(envelope, object{"old": 1}))

	recent, envelope2 := n.Manual(t, trip)
	n.Want(t, http.StatusBadRequest, "POST", "/api/claude/result", rig.With(envelope2, object{"old": 1}))
	n.Want(t, http.StatusOK, "POST", "/api/claude/result", rig.With(envelope2, object{"new": 1}))

	version := n.Await(t, id, "received")["kindVersion"]
	current := n.Want(t, http.StatusOK, "GET", "/api/kinds/trip", nil)["version"]
	if now := n.Await(t, recent, "received")["kindVersion"]; now != current || now == version || version == nil {
		t.Errorf("the versions are %v and %v, and now %v", version, now, current)
	}
	entries, events := n.AuditEntries(t, id), n.StoredEvents(t, id, "")
	if len(entries) == 0 || len(events) == 0 {
		t.Error("there is no audit log, or no event")
	}
	for _, told := range append(entries, events...) {
		must.Equal(t, version, told["kindVersion"], told, "is not of the version")
	}
}
