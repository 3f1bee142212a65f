package client

import (
	"context"
	"net/http"
	"net/url"

	"ringback/internal/job"
)

// Stats are counts over all users.
type Stats struct {
	Jobs job.Counts `json:"jobs"`
	// Checkpoints counts the questions by type; Total counts all of them.
	Checkpoints map[job.CheckpointType]CheckpointStats `json:"checkpoints"`
	Total       CheckpointStats                        `json:"total"`
	// Limits are Claude's rate limits that jobs are waiting for.
	Limits []job.Limit `json:"limits"`
	// Budgets are today's (UTC) budgets, see Client.Stats, and Quotas the quotas of kinds.
	Budgets []Budget `json:"budgets"`
	Quotas  []Quota  `json:"quotas"`
	// Days are the most recent days that are kept, oldest first.
	Days []job.Day `json:"days"`
}

// CheckpointStats counts questions and their outcomes. The mean and the rate are nil until there is
// data.
type CheckpointStats struct {
	Opened   int64 `json:"opened"`
	Answered int64 `json:"answered"`
	Approved int64 `json:"approved"`
	Denied   int64 `json:"denied"`
	// SecondsToAnswer is the mean time from question to answer, in seconds.
	SecondsToAnswer *float64 `json:"meanSecondsToAnswer"`
	// ApprovalRate is the share of approvals among the decisions.
	ApprovalRate *float64 `json:"approvalRate"`
}

// Stats returns the counts. Of the budgets of users, it returns that of userID; if userID is empty,
// those of which the most is spent. A user's token is not allowed to read them.
func (c *Client) Stats(ctx context.Context, userID string) (Answer[Stats], error) {
	return Call[Stats](ctx, c, http.MethodGet, "/api/stats"+asUser(userID), nil)
}

// Ready checks whether the server can work. If it cannot, the error contains the reason.
func (c *Client) Ready(ctx context.Context) (Answer[Readiness], error) {
	return Call[Readiness](ctx, c, http.MethodGet, "/readyz", nil)
}

// Examine has the server check its store for entries that do not match the records of jobs. With
// mend, the server repairs them.
func (c *Client) Examine(ctx context.Context, mend bool) (Answer[job.Examination], error) {
	method := http.MethodGet
	if mend {
		method = http.MethodPost
	}
	return Call[job.Examination](ctx, c, method, "/api/doctor", nil)
}

// Notifications returns the undelivered notifications with this status; empty means both statuses.
func (c *Client) Notifications(ctx context.Context, status job.NotificationStatus) (Answer[Notifications], error) {
	return Call[Notifications](ctx, c, http.MethodGet, "/api/notifications?limit=500&status="+url.QueryEscape(string(status)), nil)
}

// RetryNotification sends a notification again.
func (c *Client) RetryNotification(ctx context.Context, id job.NotificationID) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodPost, "/api/notifications/"+url.PathEscape(string(id))+"/retry", nil)
}
