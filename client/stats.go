package client

import (
	"context"
	"net/http"
	"net/url"

	"ringback/internal/job"
)

// Stats are counts over all users.
type Stats struct {
	Jobs struct {
		Total    int64                          `json:"total"`
		ByStatus map[job.State]int64            `json:"byStatus"`
		ByKind   map[string]map[job.State]int64 `json:"byKind"`
	} `json:"jobs"`
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

// Budget is today's (UTC) budget and how much of it has been spent.
type Budget struct {
	// Of is "server" for all jobs, "kind" for the jobs of Kind, or "user" for those of UserID.
	Of        job.BudgetOf `json:"of"`
	Kind      string       `json:"kind"`
	UserID    string       `json:"userId"`
	BudgetUSD float64      `json:"budgetUsd"`
	SpentUSD  float64      `json:"spentUsd"`
}

// Name returns the kind or the user that the budget is for, or "all jobs".
func (b Budget) Name() string {
	switch b.Of {
	case job.BudgetOfKind:
		return b.Kind
	case job.BudgetOfUser:
		return "user " + b.UserID
	default:
		return "all jobs"
	}
}

// Quota contains the numbers of jobs of a kind that exist and that are allowed. A limit of 0 means
// no limit.
type Quota struct {
	Kind   string `json:"kind"`
	AtOnce int    `json:"atOnce"`
	PerDay int    `json:"perDay"`
	job.Count
}

// Stats returns the counts. Of the budgets of users, it returns that of userID; if userID is empty,
// those of which the most is spent. A user's token is not allowed to read them.
func (c *Client) Stats(ctx context.Context, userID string) (Answer[Stats], error) {
	path := "/api/stats"
	if userID != "" {
		path += "?userId=" + url.QueryEscape(userID)
	}
	return Call[Stats](ctx, c, http.MethodGet, path, nil)
}

// Readiness describes whether a server can work, with warnings.
type Readiness struct {
	Status   string      `json:"status"`
	Sandbox  string      `json:"sandbox"`
	Warnings []string    `json:"warnings"`
	Limits   []job.Limit `json:"limits"`
}

// Ready checks whether the server can work. If it cannot, the error contains the reason.
func (c *Client) Ready(ctx context.Context) (Answer[Readiness], error) {
	return Call[Readiness](ctx, c, http.MethodGet, "/readyz", nil)
}
