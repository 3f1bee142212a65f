package rig

import (
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// Say sends a message to a chat, and returns the message's id.
func (n *Node) Say(t testing.TB, session, text string) float64 {
	t.Helper()
	return n.Want(t, 200, "POST", "/to-llm", harness.Object{"sessionId": session, "userId": "u1", "content": text})["messageId"].(float64)
}

// Write sends a message of a user after a job has ended, and returns the id of the job that
// continues the conversation.
func (n *Node) Write(t testing.TB, user, session, text string) (follower string) {
	t.Helper()
	jobs := func() []any { return n.Want(t, 200, "GET", "/api/jobs?userId="+user, nil)["jobs"].([]any) }
	known := map[any]bool{}
	for _, j := range jobs() {
		known[j.(harness.Object)["requestId"]] = true
	}
	n.Want(t, 200, "POST", "/to-llm", harness.Object{"sessionId": session, "userId": user, "content": text})
	must.Eventually(t, "a job that goes on with the conversation", func() bool {
		for _, j := range jobs() {
			if id := j.(harness.Object)["requestId"]; !known[id] {
				follower = id.(string)
			}
		}
		return follower != ""
	})
	return follower
}

// Messages returns the messages of a session, in order.
func (n *Node) Messages(t testing.TB, session, query string) []harness.Object {
	t.Helper()
	var all []harness.Object
	for _, m := range n.Want(t, 200, "GET", "/api/sessions/"+session+"/messages"+query, nil)["messages"].([]any) {
		all = append(all, m.(harness.Object))
	}
	return all
}

// OpenCheckpoint returns the checkpoint that a job waits at.
func (n *Node) OpenCheckpoint(t testing.TB, id, state string) harness.Object {
	t.Helper()
	return n.Await(t, id, state)["checkpoint"].(harness.Object)
}

// Approve approves a job's question.
func (n *Node) Approve(t testing.TB, id string) harness.Object {
	t.Helper()
	asked, _ := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["checkpoint"].(harness.Object)
	return n.Want(t, 200, "POST", "/api/jobs/"+id+"/approve", harness.Object{"checkpointId": asked["id"]})
}

// Reply answers a checkpoint.
func (n *Node) Reply(t testing.TB, checkpoint string, body harness.Object) harness.Object {
	t.Helper()
	return n.Want(t, 200, "POST", "/api/checkpoints/"+checkpoint+"/reply", body)
}

// RatioQuestion returns a question for a valid value.
func RatioQuestion() harness.Object {
	return harness.Object{
		"type": "error_recovery", "message": "The aspect ratio 'invalid' is not supported. Available options are: 16:9, 9:16, 1:1. What would you like?",
		"props": harness.Object{"error_type": "validation", "error_field": "aspect_ratio", "current_value": "invalid", "valid_values": []any{"16:9", "9:16", "1:1"}},
	}
}
