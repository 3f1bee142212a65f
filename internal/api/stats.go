package api

import (
	"context"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/store"
)

// checkpointStats are the counts of one type of checkpoint and the values derived from
// them. Rates are null while there is no data.
type checkpointStats struct {
	store.Stats
	// SecondsToAnswer is the mean time from question to answer.
	SecondsToAnswer *float64 `json:"meanSecondsToAnswer" jsonschema:"nullable"`
	// HeldShare is the share of answers given while the call was still waiting.
	HeldShare *float64 `json:"answeredWhileHeldShare" jsonschema:"nullable"`
	// ApprovalRate is the share of approvals among the decisions.
	ApprovalRate *float64 `json:"approvalRate" jsonschema:"nullable"`
}

// statistics are counts over everything retained, of all users.
type statistics struct {
	Jobs job.Counts `json:"jobs"`
	// Checkpoints are questions to people by type, and Total is for all types.
	Checkpoints map[job.CheckpointType]checkpointStats `json:"checkpoints"`
	Total       checkpointStats                        `json:"total"`
	// Limits are Claude's rate limits that currently keep jobs waiting.
	Limits []job.Limit `json:"limits,omitempty"`
	// Budgets are today's budgets (UTC) that are set. Of those of users, they contain the one that
	// the request names, or else the ten of which the most is spent.
	Budgets []job.Budget `json:"budgets,omitempty"`
	// Quotas are the quotas of kinds that are set.
	Quotas []job.QuotaView `json:"quotas,omitempty"`
	// Days are the last 30 days (UTC), oldest first.
	Days []job.Day `json:"days"`
}

func (s *Server) quotas(ctx context.Context) (all []job.QuotaView, err error) {
	for _, k := range s.jobs.Kinds().All() {
		if k.Policy.Quota() == (job.Quota{}) {
			continue
		}
		n, err := s.store.CountJobsOfKind(ctx, k.Name, s.store.Today(), nil)
		if err != nil {
			return nil, err
		}
		all = append(all, job.QuotaView{Kind: k.Name, AtOnce: k.Policy.JobsAtOnce, PerDay: k.Policy.JobsPerDay, Count: n})
	}
	return all, nil
}

// mostUsers is the number of users whose budgets the statistics contain.
const mostUsers = 10

// userBudgets returns the budget of a user; of those that have spent the most if userID is "".
func (s *Server) userBudgets(ctx context.Context, userID string) (all []job.Budget, err error) {
	if s.opts.Budgets.User == 0 {
		return nil, nil
	}
	var users []store.UserSpending
	if userID == "" {
		users, err = s.store.UsersSpentToday(ctx, mostUsers)
	} else {
		var spent job.Spending
		spent, err = s.store.SpentToday(ctx, "", userID)
		users = append(users, store.UserSpending{UserID: userID, Spent: spent.User})
	}
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		all = append(all, job.Budget{
			Of: job.BudgetOfUser, UserID: u.UserID, BudgetUSD: s.opts.Budgets.User.USD(), SpentUSD: u.Spent.USD(),
		})
	}
	return all, nil
}

// budgets returns today's budgets that are set: of kinds, of the server and of users, see
// userBudgets.
func (s *Server) budgets(ctx context.Context, userID string) (all []job.Budget, err error) {
	for _, k := range s.jobs.Kinds().All() {
		if k.Policy.BudgetUSDPerDay == 0 {
			continue
		}
		spent, err := s.store.SpentToday(ctx, k.Name, "")
		if err != nil {
			return nil, err
		}
		all = append(all, job.Budget{
			Of: job.BudgetOfKind, Kind: k.Name, BudgetUSD: k.Policy.BudgetUSDPerDay, SpentUSD: spent.Kind.USD(),
		})
	}
	if s.opts.Budgets.Server > 0 {
		spent, err := s.store.SpentToday(ctx, "", "")
		if err != nil {
			return nil, err
		}
		all = append(all, job.Budget{
			Of: job.BudgetOfServer, BudgetUSD: s.opts.Budgets.Server.USD(), SpentUSD: spent.Server.USD(),
		})
	}
	ofUsers, err := s.userBudgets(ctx, userID)
	return append(all, ofUsers...), err
}

func (s *Server) stats(c echo.Context) error {
	ctx := c.Request().Context()
	counts, err := s.store.Stats(ctx)
	if err != nil {
		return err
	}
	jobs, err := s.store.JobCounts(ctx)
	if err != nil {
		return err
	}
	shown := statistics{Jobs: countJobs(jobs), Checkpoints: map[job.CheckpointType]checkpointStats{}, Total: derive(counts[""])}
	for _, t := range job.CheckpointTypes {
		shown.Checkpoints[t] = derive(counts[t])
	}
	if shown.Limits, err = s.store.Limits(ctx); err != nil {
		return err
	}
	if shown.Days, err = s.store.Daily(ctx); err != nil {
		return err
	}
	if shown.Budgets, err = s.budgets(ctx, c.QueryParam("userId")); err != nil {
		return err
	}
	shown.Quotas, err = s.quotas(ctx)
	return answer(c, shown, err)
}

func countJobs(byKind map[string]map[job.State]int64) job.Counts {
	counts := job.Counts{ByStatus: map[job.State]int64{}, ByKind: map[string]map[job.State]int64{}}
	for kind, states := range byKind {
		for state, n := range states {
			if n == 0 {
				continue
			}
			if counts.ByKind[kind] == nil {
				counts.ByKind[kind] = map[job.State]int64{}
			}
			counts.ByKind[kind][state] = n
			counts.ByStatus[state] += n
			counts.Total += n
		}
	}
	return counts
}

func derive(s store.Stats) checkpointStats {
	return checkpointStats{
		Stats: s, SecondsToAnswer: ratio(s.Waited.Seconds(), s.Answered),
		HeldShare: ratio(float64(s.Held), s.Answered), ApprovalRate: ratio(float64(s.Approved), s.Approved+s.Denied),
	}
}

func ratio(a float64, b int64) *float64 {
	if b == 0 {
		return nil
	}
	r := a / float64(b)
	return &r
}
