package client

import (
	"context"
	"net/http"

	"ringback/internal/job"
)

// Transcript returns the output of the Claude CLI for a job, one JSON object per line. It is empty
// before the first turn.
func (c *Client) Transcript(ctx context.Context, id job.ID) ([]byte, error) {
	return c.fetch(ctx, http.MethodGet, jobPath(id, "/transcript"), nil)
}
