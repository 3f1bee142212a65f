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
	// Limits are those of Claude's that keep jobs waiting.
	Limits []job.Limit `json:"limits"`
	// Budgets are those of today (UTC), and Quotas those of kinds.
	Budgets []Budget `json:"budgets"`
	Quotas  []Quota  `json:"quotas"`
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

// Budget is what may be spent today (UTC), and what was.
type Budget struct {
	// Of is "server" for all jobs, or "kind" for those of Kind.
	Of        job.BudgetOf `json:"of"`
	Kind      string       `json:"kind"`
	BudgetUSD float64      `json:"budgetUsd"`
	SpentUSD  float64      `json:"spentUsd"`
}

// Name says whose budget it is.
func (b Budget) Name() string {
	if b.Kind != "" {
		return b.Kind
	}
	return "all jobs"
}

// Quota is how many jobs of a kind there may be, and are. A limit of 0 is none.
type Quota struct {
	Kind   string `json:"kind"`
	AtOnce int    `json:"atOnce"`
	PerDay int    `json:"perDay"`
	job.Count
}

// Stats returns the counts; a person's token does not show them.
func (c *Client) Stats(ctx context.Context) (Answer[Stats], error) {
	return Call[Stats](ctx, c, http.MethodGet, "/api/stats", nil)
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
	return Call[Readiness](ctx, c, http.MethodGet, "/readyz", nil)
}
