package jobs

import (
	"maps"
	"testing"

	"ringback/test/rig"
)

// A job keeps the version of its kind, and so does the one that follows it: if the kind works on
// repositories only since, nothing can be steered, and the result is the end.
func TestAJobFromBeforeItsKindHadAWorkspace(t *testing.T) {
	t.Parallel()
	env := rig.OwnKind(t, "edit", "Edit.", "")
	maps.Copy(env, vars{"REDIS_URL": rig.StartRedis(t).URL, "DATA_DIR": t.TempDir()})
	n := rig.Start(t, env)
	id, envelope := n.Manual(t, object{"kind": "edit", "userId": "u1", "sessionId": "s1", "input": object{"prompt": "Add a check", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
	rig.WriteFiles(t, env["PROMPTS_DIR"], map[string]string{"edit.md": "---\nworkspace: {}\nreview: true\n---\nEdit."})
	n = n.Again(t)
	if refused := n.Want(t, 409, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "Also there"}); refused["hint"] == nil {
		t.Errorf("the steer is refused with %v", refused)
	}
	result := object{"summary": "Added it."}
	n.Want(t, 200, "POST", "/api/claude/result", rig.With(envelope, result))
	n.Await(t, id, "received")
	id = n.Write(t, "u1", "s1", "Also there")
	n.Want(t, 200, "POST", "/api/claude/result", rig.With(n.Envelope(t, id), result))
	n.Await(t, id, "received")
}

// No idempotency key of a caller prevents a conversation from continuing.
func TestNoIdempotencyKeyOfACallerStopsAFollowUp(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	body := object{"kind": "meal-suggestions", "userId": "u1", "sessionId": "s1", "input": rig.MealInput(), "options": object{"simulate": "manual"}}
	id, envelope := n.Manual(t, body)
	n.Create(t, rig.With(body, object{"sessionId": "s2", "idempotencyKey": "follows:" + id}))
	n.Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Lentil soup")))
	n.Await(t, id, "received")
	n.Await(t, n.Write(t, "u1", "s1", "Without meat"), "running")
}

// Errors use the field names of the request, whatever the endpoint calls them.
func TestRefusedRunsNameTheirOwnFields(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	for path, body := range map[string]object{
		"/user_id":                      {"prompt": "x", "user_id": "ringback:x"},
		"/session_id":                   {"prompt": "x", "session_id": "a/b"},
		"/agent_tool_config/kind":       {"prompt": "x", "agent_tool_config": object{"kind": 5}},
		"/agent_tool_config/repos/0":    {"prompt": "x", "agent_tool_config": object{"kind": "code-change", "repos": []any{5}}},
		"/agent_tool_config/media_type": {"prompt": "x", "agent_tool_config": object{"media_type": "song"}},
	} {
		refused := n.Want(t, 400, "POST", "/hitl/runs", body)
		if rig.Details(t, refused)[path] == "" {
			t.Errorf("%s: says %v", path, refused)
		}
	}
}
