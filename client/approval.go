package client

import (
	"context"
	"net/http"
	"net/url"

	"ringback/internal/job"
)

// Seen identifies what a person has decided on. The decision is a Conflict if the job asks something
// else by now. An approval requires CheckpointID, or Iteration and Trees; for a rejection it may be zero.
type Seen struct {
	// CheckpointID is the question.
	CheckpointID job.CheckpointID `json:"checkpointId,omitempty"`
	// Iteration is how often the change had been steered.
	Iteration *int `json:"iteration,omitempty"`
	// Trees are git's ids of what was shown, by repository.
	Trees map[string]string `json:"trees,omitempty"`
	// Shown is how it was shown.
	Shown job.Shown `json:"shown,omitempty"`
	// Unviewed is how many files of a change are approved that the person has not marked as viewed.
	// The approval is refused if there are more; nil states nothing.
	Unviewed *int `json:"unviewed,omitempty"`
}

// Approve allows what a job asks to be allowed, and returns the job's record.
func (c *Client) Approve(ctx context.Context, id job.ID, seen Seen) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/approve"), seen)
}

// Reject refuses it, for a reason that may be empty.
func (c *Client) Reject(ctx context.Context, id job.ID, reason string, seen Seen) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/reject"), struct {
		Reason string `json:"reason,omitempty"`
		Seen
	}{reason, seen})
}

// Approvals are the standing approvals of a user.
type Approvals struct {
	Approvals []job.Approval `json:"approvals"`
}

// Approvals returns what a user has allowed for more than once.
func (c *Client) Approvals(ctx context.Context, userID string) (Answer[Approvals], error) {
	return Call[Approvals](ctx, c, http.MethodGet, "/api/approvals"+asUser(userID), nil)
}

// Revoke takes back a standing approval.
func (c *Client) Revoke(ctx context.Context, userID, id string) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodDelete, "/api/approvals/"+url.PathEscape(id)+asUser(userID), nil)
}

func asUser(userID string) string {
	if userID == "" {
		return ""
	}
	return "?userId=" + url.QueryEscape(userID)
}
