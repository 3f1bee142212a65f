package client

import (
	"context"
	"net/http"

	"ringback/internal/job"
)

// Transcript returns what the Claude CLI printed for a job, one JSON object a
// line; empty before its first turn.
func (c *Client) Transcript(ctx context.Context, id job.ID) ([]byte, error) {
	return c.fetch(ctx, http.MethodGet, jobPath(id, "/transcript"), nil)
}
