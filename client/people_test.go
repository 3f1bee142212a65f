package client_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"ringback/client"
	"ringback/internal/job"
	"ringback/test/must"
)

// did drops the response of a call.
func did[T any](_ client.Answer[T], err error) error { return err }

func TestRequestsOfPeople(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, got := answering(t, http.StatusOK, `{"requestId":"r1","id":"chk_1","success":true}`)
	sent := func(line, body string, err error) {
		t.Helper()
		must.OK(t, err)
		must.Equal(t, [2]string{line, body}, [2]string{got.Line, got.Body}, "asked for")
	}
	sent("GET /api/checkpoints?cursor=n&limit=2&status=open&type=review&userId=a%26b", "",
		did(c.Checkpoints(ctx, client.CheckpointFilter{UserID: "a&b", Status: job.Open, Type: job.Review, Cursor: "n", Limit: 2})))
	_, err := c.CountCheckpoints(ctx, client.CheckpointFilter{Status: job.Open})
	sent("GET /api/checkpoints/count?status=open", "", err)
	sent("GET /api/checkpoints/chk%2F1", "", did(c.Checkpoint(ctx, "chk/1")))
	sent("POST /api/checkpoints/chk_1/reply", `{"values":{"n":10000000000000000001}}`,
		did(c.Reply(ctx, "chk_1", client.Reply{Values: map[string]json.RawMessage{"n": json.RawMessage("10000000000000000001")}})))
	sent("POST /api/jobs/r1/approve", `{"checkpointId":"chk_1"}`, did(c.Approve(ctx, "r1", client.Seen{CheckpointID: "chk_1"})))
	sent("POST /api/jobs/r1/reject", `{"reason":"not today"}`, did(c.Reject(ctx, "r1", "not today", client.Seen{})))
	sent("GET /api/sessions/s%201/messages?after=3&limit=7&userId=u", "", did(c.Messages(ctx, "s 1", "u", 3, 7)))
	sent("POST /to-llm", `{"sessionId":"s1","content":"Use 16:9","props":{"checkpoint_message_id":7}}`, did(c.Say(ctx, "s1", "", "Use 16:9", 7)))
	sent("GET /api/approvals?userId=u+1", "", did(c.Approvals(ctx, "u 1")))
	sent("DELETE /api/approvals/apr%2F1", "", did(c.Revoke(ctx, "", "apr/1")))
	sent("GET /api/jobs/r1/steering", "", did(c.Steering(ctx, "r1")))
	sent("POST /api/jobs/r1/steer", `{"prompt":"Also the other"}`, did(c.Steer(ctx, "r1", "Also the other")))
	c, got = answering(t, http.StatusOK, "[]")
	sent("GET /api/jobs/r1/diff?from=1&max_lines=5&repository=shop", "",
		did(c.DiffPage(ctx, "r1", client.DiffPage{Repository: "shop", From: 1, Lines: 5})))
	sent("GET /api/jobs/r1/diff?context=9&file=a.go&from=0&max_lines=0&since=0", "",
		did(c.DiffPage(ctx, "r1", client.DiffPage{File: "a.go", Context: 9, Since: new(0)})))
}
