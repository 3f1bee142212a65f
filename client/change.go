package client

import (
	"context"
	"net/http"
	"strconv"

	"ringback/internal/job"
)

// Diff returns what a job has changed, by repository.
func (c *Client) Diff(ctx context.Context, id job.ID) (Answer[[]job.DiffOutput], error) {
	return Call[[]job.DiffOutput](ctx, c, http.MethodGet, jobPath(id, "/diff"), nil)
}

// DiffPage returns a part of what a job has changed.
func (c *Client) DiffPage(ctx context.Context, id job.ID, page DiffPage) (Answer[[]job.DiffOutput], error) {
	since := ""
	if page.Since != nil {
		since = strconv.Itoa(*page.Since)
	}
	query := queryOf(map[string]string{
		"from": strconv.Itoa(page.From), "max_lines": strconv.Itoa(page.Lines), "repository": page.Repository, "file": page.File,
		"context": nonZero(max(0, page.Context)), "since": since,
	})
	return Call[[]job.DiffOutput](ctx, c, http.MethodGet, jobPath(id, "/diff"+query), nil)
}

// Logs returns the outcomes of the verifiers.
func (c *Client) Logs(ctx context.Context, id job.ID) (Answer[[]job.VerifierOutput], error) {
	return Call[[]job.VerifierOutput](ctx, c, http.MethodGet, jobPath(id, "/logs"), nil)
}

// Viewed returns which files of a change the caller has marked as viewed.
func (c *Client) Viewed(ctx context.Context, id job.ID) (Answer[job.Viewed], error) {
	return Call[job.Viewed](ctx, c, http.MethodGet, jobPath(id, "/viewed"), nil)
}

// SetViewed marks a file of a change as viewed by the caller, or removes the mark. repository and
// digest are those of the diff. Error: Conflict if the change no longer has this file.
func (c *Client) SetViewed(ctx context.Context, id job.ID, repository, digest string, viewed bool) (Answer[job.Viewed], error) {
	return Call[job.Viewed](ctx, c, http.MethodPost, jobPath(id, "/viewed"), struct {
		Repository string `json:"repository"`
		Digest     string `json:"digest"`
		Viewed     bool   `json:"viewed"`
	}{repository, digest, viewed})
}

// Steering returns how often a change was steered and how often it may be.
func (c *Client) Steering(ctx context.Context, id job.ID) (Answer[job.SteeringState], error) {
	return Call[job.SteeringState](ctx, c, http.MethodGet, jobPath(id, "/steering"), nil)
}

// Steer asks for another round of a change, and returns the job's record.
func (c *Client) Steer(ctx context.Context, id job.ID, prompt string) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/steer"), struct {
		Prompt string `json:"prompt"`
	}{prompt})
}
