package test

import (
	"maps"
	"testing"
)

// write sends a message of a user after a job has ended, and returns the id of the job that
// continues the conversation.
func (n *node) write(t testing.TB, user, session, text string) (follower string) {
	t.Helper()
	jobs := func() []any { return n.want(t, 200, "GET", "/api/jobs?userId="+user, nil)["jobs"].([]any) }
	known := map[any]bool{}
	for _, j := range jobs() {
		known[j.(object)["requestId"]] = true
	}
	n.want(t, 200, "POST", "/to-llm", object{"sessionId": session, "userId": user, "content": text})
	eventually(t, "a job that goes on with the conversation", func() bool {
		for _, j := range jobs() {
			if id := j.(object)["requestId"]; !known[id] {
				follower = id.(string)
			}
		}
		return follower != ""
	})
	return follower
}

// envelope is what whoever plays Claude in a job sends with each callback.
func (n *node) envelope(t testing.TB, id string) object {
	t.Helper()
	n.await(t, id, "running")
	var values object
	eventually(t, "what to send", func() bool {
		status, answer := n.do(t, "GET", "/api/jobs/"+id+"/callback", nil)
		values = answer
		return status == 200
	})
	return object{"requestId": id, "hmac": values["hmac"]}
}

// A job keeps the version of its kind, and so does the one that follows it: if the kind works on
// repositories only since, nothing can be steered, and the result is the end.
func TestAJobFromBeforeItsKindHadAWorkspace(t *testing.T) {
	t.Parallel()
	env := ownKind(t, "edit", "Edit.", "")
	maps.Copy(env, vars{"REDIS_URL": startRedis(t).URL, "DATA_DIR": t.TempDir()})
	n := startNode(t, env)
	id, envelope := n.manual(t, object{"kind": "edit", "userId": "u1", "sessionId": "s1", "input": object{"prompt": "Add a check", "repos": []any{object{"url": goRepository(t, "service")}}}})
	writeFiles(t, env["PROMPTS_DIR"], map[string]string{"edit.md": "---\nworkspace: {}\nreview: true\n---\nEdit."})
	n = n.again(t)
	if refused := n.want(t, 409, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "Also there"}); refused["hint"] == nil {
		t.Errorf("the steer is refused with %v", refused)
	}
	result := object{"summary": "Added it."}
	n.want(t, 200, "POST", "/api/claude/result", with(envelope, result))
	n.await(t, id, "received")
	id = n.write(t, "u1", "s1", "Also there")
	n.want(t, 200, "POST", "/api/claude/result", with(n.envelope(t, id), result))
	n.await(t, id, "received")
}

// No idempotency key of a caller prevents a conversation from continuing.
func TestNoIdempotencyKeyOfACallerStopsAFollowUp(t *testing.T) {
	t.Parallel()
	n := startNode(t, nil)
	body := object{"kind": "meal-suggestions", "userId": "u1", "sessionId": "s1", "input": mealInput(), "options": object{"simulate": "manual"}}
	id, envelope := n.manual(t, body)
	n.create(t, with(body, object{"sessionId": "s2", "idempotencyKey": "follows:" + id}))
	n.want(t, 200, "POST", "/api/claude/suggestions", with(envelope, mealResult("Lentil soup")))
	n.await(t, id, "received")
	n.await(t, n.write(t, "u1", "s1", "Without meat"), "running")
}

// Errors use the field names of the request, whatever the endpoint calls them.
func TestRefusedRunsNameTheirOwnFields(t *testing.T) {
	t.Parallel()
	n := startNode(t, nil)
	for path, body := range map[string]object{
		"/user_id":                      {"prompt": "x", "user_id": "ringback:x"},
		"/session_id":                   {"prompt": "x", "session_id": "a/b"},
		"/agent_tool_config/kind":       {"prompt": "x", "agent_tool_config": object{"kind": 5}},
		"/agent_tool_config/repos/0":    {"prompt": "x", "agent_tool_config": object{"kind": "code-change", "repos": []any{5}}},
		"/agent_tool_config/media_type": {"prompt": "x", "agent_tool_config": object{"media_type": "song"}},
	} {
		refused := n.want(t, 400, "POST", "/hitl/runs", body)
		if details(t, refused)[path] == "" {
			t.Errorf("%s: says %v", path, refused)
		}
	}
}
