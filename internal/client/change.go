package client

import (
	"context"
	"net/http"

	"ringback/internal/job"
)

// Diff returns what a job has changed, by repository.
func (c *Client) Diff(ctx context.Context, id job.ID) (Answer[[]job.DiffOutput], error) {
	return call[[]job.DiffOutput](ctx, c, http.MethodGet, jobPath(id, "/diff"), nil)
}

// Logs returns how the verifiers ended.
func (c *Client) Logs(ctx context.Context, id job.ID) (Answer[[]job.VerifierOutput], error) {
	return call[[]job.VerifierOutput](ctx, c, http.MethodGet, jobPath(id, "/logs"), nil)
}

// Steering returns how often a change was steered, and how often it may be.
func (c *Client) Steering(ctx context.Context, id job.ID) (Answer[job.SteeringState], error) {
	return call[job.SteeringState](ctx, c, http.MethodGet, jobPath(id, "/steering"), nil)
}

// Steer asks for another round of a change, and returns the job's record.
func (c *Client) Steer(ctx context.Context, id job.ID, prompt string) (Answer[job.Job], error) {
	return call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/steer"), struct {
		Prompt string `json:"prompt"`
	}{prompt})
}
