package client

import (
	"context"
	"net/http"
	"net/url"

	"ringback/internal/job"
)

// Seen identifies what a person has decided on. The decision is a Conflict if the job now asks
// something else. An approval requires CheckpointID, or Iteration and Trees; a rejection
// accepts the zero value.
type Seen struct {
	// CheckpointID identifies the question.
	CheckpointID job.CheckpointID `json:"checkpointId,omitempty"`
	// Iteration is the number of times the change had been steered.
	Iteration *int `json:"iteration,omitempty"`
	// Trees are the git tree ids that were shown, by repository.
	Trees map[string]string `json:"trees,omitempty"`
	// Shown describes how it was shown.
	Shown job.Shown `json:"shown,omitempty"`
	// Unviewed is the number of files of the change that the person approves without having marked
	// them as viewed. The approval is refused if there are more. Nil skips this check.
	Unviewed *int `json:"unviewed,omitempty"`
}

// Approve approves what a job asks for and returns the job's record.
func (c *Client) Approve(ctx context.Context, id job.ID, seen Seen) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/approve"), seen)
}

// Reject refuses what a job asks for and returns the job's record. The reason may be empty.
func (c *Client) Reject(ctx context.Context, id job.ID, reason string, seen Seen) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/reject"), struct {
		Reason string `json:"reason,omitempty"`
		Seen
	}{reason, seen})
}

// Approvals returns the standing approvals of a user.
func (c *Client) Approvals(ctx context.Context, userID string) (Answer[Approvals], error) {
	return Call[Approvals](ctx, c, http.MethodGet, "/api/approvals"+asUser(userID), nil)
}

// Revoke withdraws a standing approval.
func (c *Client) Revoke(ctx context.Context, userID, id string) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodDelete, "/api/approvals/"+url.PathEscape(id)+asUser(userID), nil)
}

func asUser(userID string) string { return queryOf(map[string]string{"userId": userID}) }
