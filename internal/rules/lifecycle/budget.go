package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/price"
)

// stopAtBudget stops a job before its next request would exceed a budget. This does not count as an
// attempt.
func (st *State) stopAtBudget(j *Job, e TurnEnd) error {
	used, message := *e.Budget, e.Budget.Error()
	ask := !used.ByDay() && e.OnBudget == job.AskOnBudget
	if e.OnBudget == job.FailOnBudget || !used.ByDay() && !ask {
		return st.fail(j, job.Failed, job.CodeBudgetExceeded, message, message)
	}
	if j.ResumeReason == nil {
		j.ResumeReason = &ResumeReason{Reason: Limited}
	}
	if ask {
		st.noteFailure(j, job.CodeBudgetExceeded, message)
		return st.askForBudget(j, e)
	}
	// The day may have turned since the budget was checked.
	return st.tryAt(j, job.WaitingForLimit, job.CodeBudgetExceeded, message, used.Until)
}

// checkBudgets rejects a job if a daily budget is used up and the job's kind fails in that case.
// Jobs of other kinds are accepted and wait.
//
// Errors: TooMany; Unavailable while the store is unavailable.
func (s *Service) checkBudgets(ctx context.Context, st *State, o Opening) error {
	budgets := s.opts.Budgets
	if k, ok := s.current(o.Kind); ok { // its daily budget covers jobs of all versions
		budgets.Kind = price.FromUSD(k.Policy.BudgetUSDPerDay)
	}
	if budgets == (job.Spending{}) || o.simulated {
		return nil
	}
	k, err := s.KindOf(ctx, job.Job{ID: o.JobID, Kind: o.Kind, KindVersion: o.version})
	if err != nil || k.Policy.OnBudget != job.FailOnBudget {
		return ignore(err, job.NotFound)
	}
	spent, err := s.store.SpentToday(ctx, o.Kind, o.UserID)
	if err != nil {
		return err
	}
	if used := budgets.UsedUp(spent, today(st.Now)); used != nil {
		return st.noneToday(
			"%s, and jobs of the kind %q are then refused (on_budget: fail)", strings.TrimSuffix(used.Error(), "."), o.Kind,
		)
	}
	return nil
}

// nextDay returns the start of the next day (UTC).
func nextDay(now time.Time) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
}

// budgetProps are the props of the question whether to raise a job's budget.
type budgetProps struct {
	Title   string    `json:"title"`
	UsedUSD float64   `json:"used_usd"`
	MoreUSD float64   `json:"more_usd"`
	RunID   string    `json:"checkpoint_run_id"`
	Asked   job.Asked `json:"asked"`
}

// askForBudget asks a person whether to raise a job's budget by its initial amount.
func (st *State) askForBudget(j *Job, e TurnEnd) error {
	more := j.BudgetStep
	text := fmt.Sprintf("%s used, continue with %s more?", job.Dollars(e.Budget.Spent), job.Dollars(price.FromUSD(more)))
	props := job.MustJSON(budgetProps{
		Title: "The job's budget is used up", UsedUSD: e.Budget.Spent.USD(), MoreUSD: more,
		RunID: string(j.ID), Asked: job.Asked{Segments: []job.Segment{{From: job.FromRingback, Text: text}}},
	})
	n := NewCheckpoint{
		RequestID: j.ID, UserID: j.UserID, SessionID: j.SessionID, Type: job.Confirmation, Message: text, Props: props,
		Chat: job.Text(job.FromAssistant, text),
	}
	n.Chat.MessageType, n.Chat.Props, n.Chat.LogID, n.Chat.Destination = job.CheckpointMessage, props, string(j.ID), "user"
	c := n.record(e.question, j.recipient(), e.humanTimeout)
	c.RaiseUSD = more
	st.Checkpoints = append(st.Checkpoints, c)
	attempt := j.Attempt
	if err := st.wait(j, c, n); err != nil {
		return err
	}
	j.Attempt = attempt // asking is not progress
	return nil
}

// decideBudget resumes a job if a person has raised its budget, and fails it if they have not.
// Claude does not see the answer, because it did not ask. So it could not make a change either:
// asking for one is Invalid.
func (st *State) decideBudget(j *Job, c *Checkpoint, decision job.Decision) error {
	if decision == job.Steer {
		return job.InvalidField("/decision", `found "steer"; allowed: approve, deny, cancel`)
	}
	st.stopClocks(j)
	j.Checkpoint, j.Question, j.QuestionID = "", "", ""
	if decision != job.Approve {
		const message = "The job's budget is used up, and it was not raised."
		return st.fail(j, job.Failed, job.CodeBudgetExceeded, message, message)
	}
	j.BudgetUSD += c.RaiseUSD
	return st.resume(j, ResumeReason{Reason: Limited})
}
