package client_test

import (
	"context"
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
	for _, c := range []struct {
		name       string
		do         func(context.Context, *client.Client) error
		line, body string
	}{
		{"inbox", func(ctx context.Context, c *client.Client) error {
			return did(c.Checkpoints(ctx, client.CheckpointFilter{UserID: "a&b", Status: job.Open, Type: job.Review, Cursor: "n", Limit: 2}))
		}, "GET /api/checkpoints?cursor=n&limit=2&status=open&type=review&userId=a%26b", ""},
		{"how many checkpoints", func(ctx context.Context, c *client.Client) error {
			_, err := c.CountCheckpoints(ctx, client.CheckpointFilter{Status: job.Open})
			return err
		}, "GET /api/checkpoints/count?status=open", ""},
		{"one checkpoint", func(ctx context.Context, c *client.Client) error {
			return did(c.Checkpoint(ctx, "chk/1"))
		}, "GET /api/checkpoints/chk%2F1", ""},
		{"reply", func(ctx context.Context, c *client.Client) error {
			return did(c.Reply(ctx, "chk_1", client.Reply{Values: map[string]json.RawMessage{"n": json.RawMessage("10000000000000000001")}}))
		}, "POST /api/checkpoints/chk_1/reply", `{"values":{"n":10000000000000000001}}`},
		{"approve", func(ctx context.Context, c *client.Client) error {
			return did(c.Approve(ctx, "r1", client.Seen{CheckpointID: "chk_1"}))
		}, "POST /api/jobs/r1/approve", `{"checkpointId":"chk_1"}`},
		{"reject", func(ctx context.Context, c *client.Client) error {
			return did(c.Reject(ctx, "r1", "not today", client.Seen{}))
		}, "POST /api/jobs/r1/reject", `{"reason":"not today"}`},
		{"messages", func(ctx context.Context, c *client.Client) error {
			return did(c.Messages(ctx, "s 1", "u", 3, 7))
		}, "GET /api/sessions/s%201/messages?after=3&limit=7&userId=u", ""},
		{"say", func(ctx context.Context, c *client.Client) error {
			return did(c.Say(ctx, "s1", "", "Use 16:9"))
		}, "POST /to-llm", `{"sessionId":"s1","content":"Use 16:9"}`},
		{"approvals", func(ctx context.Context, c *client.Client) error {
			return did(c.Approvals(ctx, "u 1"))
		}, "GET /api/approvals?userId=u+1", ""},
		{"revoke", func(ctx context.Context, c *client.Client) error {
			return did(c.Revoke(ctx, "", "apr/1"))
		}, "DELETE /api/approvals/apr%2F1", ""},
		{"steering", func(ctx context.Context, c *client.Client) error {
			return did(c.Steering(ctx, "r1"))
		}, "GET /api/jobs/r1/steering", ""},
		{"steer", func(ctx context.Context, c *client.Client) error {
			return did(c.Steer(ctx, "r1", "Also the other"))
		}, "POST /api/jobs/r1/steer", `{"prompt":"Also the other"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			api, got := answering(t, http.StatusOK, "{}")
			must.OK(t, c.do(t.Context(), api))
			must.Equal(t, [2]string{c.line, c.body}, [2]string{got.Line, got.Body}, "asked for")
		})
	}
}
