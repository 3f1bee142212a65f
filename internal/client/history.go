package client

import (
	"context"
	"net/http"

	"ringback/internal/job"
)

// History is what happened to a job.
type History struct {
	Events []job.Event `json:"events"`
}

// Events returns the kept events of a job after since, oldest first and at most
// 1000 of them; 0 asks for all. Watch goes on with those that follow.
func (c *Client) Events(ctx context.Context, id job.ID, since job.Seq) (Answer[History], error) {
	return call[History](ctx, c, http.MethodGet, jobPath(id, "/events?since="+since.String()), nil)
}

// Transcript returns what the Claude CLI printed for a job, one JSON object a
// line; empty before its first turn.
func (c *Client) Transcript(ctx context.Context, id job.ID) ([]byte, error) {
	return c.fetch(ctx, http.MethodGet, jobPath(id, "/transcript"), nil)
}
