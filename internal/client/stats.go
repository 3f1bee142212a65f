package client

import (
	"context"
	"net/http"

	"ringback/internal/job"
)

// Stats are counts over all users.
type Stats struct {
	Jobs struct {
		Total    int64                          `json:"total"`
		ByStatus map[job.State]int64            `json:"byStatus"`
		ByKind   map[string]map[job.State]int64 `json:"byKind"`
	} `json:"jobs"`
	// Checkpoints count the questions by type, Total all of them.
	Checkpoints map[job.CheckpointType]CheckpointStats `json:"checkpoints"`
	Total       CheckpointStats                        `json:"total"`
	// Days are the last days that are kept, the oldest first.
	Days []job.Day `json:"days"`
}

// CheckpointStats count questions, and what became of them. Rates are nil as long as
// nothing can be said.
type CheckpointStats struct {
	Opened   int64 `json:"opened"`
	Answered int64 `json:"answered"`
	Approved int64 `json:"approved"`
	Denied   int64 `json:"denied"`
	// SecondsToAnswer is the mean time from question to answer.
	SecondsToAnswer *float64 `json:"meanSecondsToAnswer"`
	// ApprovalRate is the share of approvals among the decisions.
	ApprovalRate *float64 `json:"approvalRate"`
}

// Stats returns the counts; a person's token does not show them.
func (c *Client) Stats(ctx context.Context) (Answer[Stats], error) {
	return call[Stats](ctx, c, http.MethodGet, "/api/stats", nil)
}

// Readiness is whether a server can work, and what is not as it should be.
type Readiness struct {
	Status   string      `json:"status"`
	Sandbox  string      `json:"sandbox"`
	Warnings []string    `json:"warnings"`
	Limits   []job.Limit `json:"limits"`
}

// Ready asks whether the server can work; where it cannot, the error says why.
func (c *Client) Ready(ctx context.Context) (Answer[Readiness], error) {
	return call[Readiness](ctx, c, http.MethodGet, "/readyz", nil)
}
