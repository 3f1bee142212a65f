package lifecycle_test

import (
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

// A person can raise a budget or not: asking for something else changes nothing.
func TestABudgetIsRaisedOrNot(t *testing.T) {
	t.Parallel()
	for decision, want := range map[job.Decision]job.State{job.Approve: job.Pending, job.Deny: job.Failed, job.Steer: job.AwaitingApproval} {
		t.Run(string(decision), func(t *testing.T) {
			t.Parallel()
			s := newJobs(t, lifecycle.Options{})
			limited := request("plain")
			limited.Options.BudgetUSD, limited.ByBackEnd = 1, true
			s.create(limited)
			turn := s.take()
			must.Get(s.EndTurn(t.Context(), lifecycle.TurnEnd{
				ID: turn.Job.ID, Turn: turn.Job.Turn, Node: "n", Begun: turn.Begun, OnBudget: job.AskOnBudget,
				Budget: &job.UsedBudget{Of: job.BudgetOfJob, Budget: price.Dollar, Spent: price.Dollar},
			}))(t)
			asked := must.Get(s.store.Get(t.Context(), turn.Job.ID))(t).Checkpoint
			_, err := s.Answer(t.Context(), *asked, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: decision, Reason: "only the tests"}})
			if refused := job.HasKind(err, job.Invalid); refused != (decision == job.Steer) {
				t.Errorf("answered with %v", err)
			}
			j := must.Get(s.store.Get(t.Context(), turn.Job.ID))(t)
			must.Equal(t, want, j.State, "the job is")
			must.Equal(t, decision == job.Steer, j.Checkpoint != nil && j.Checkpoint.Status == job.Open, "it is still asked")
		})
	}
}

// A budget costs no attempt, and no message to a turn that did not start is lost.
func TestABudgetCostsNoAttempt(t *testing.T) {
	t.Parallel()
	for then, c := range map[job.OnBudget]struct {
		of    job.BudgetOf
		state job.State
		phase job.Phase
	}{
		job.AskOnBudget:  {job.BudgetOfJob, job.AwaitingApproval, job.NoPhase},
		job.WaitOnBudget: {job.BudgetOfServer, job.Pending, job.WaitingForLimit},
		job.FailOnBudget: {job.BudgetOfUser, job.Failed, job.NoPhase},
	} {
		t.Run(string(then), func(t *testing.T) {
			t.Parallel()
			s := newJobs(t, lifecycle.Options{})
			s.create(request("plain"))
			turn := s.take()
			until := turn.Job.CreatedAt.Add(time.Hour)
			state, err := s.EndTurn(t.Context(), lifecycle.TurnEnd{
				ID: turn.Job.ID, Turn: turn.Job.Turn, Node: "n", Begun: turn.Begun, OnBudget: then,
				Budget: &job.UsedBudget{Of: c.of, Budget: price.Dollar, Spent: price.Dollar, Until: until},
			})
			if err != nil || state != c.state {
				t.Fatalf("the job is %s, %v", state, err)
			}
			j := must.Get(s.store.Get(t.Context(), turn.Job.ID))(t)
			if j.Phase != c.phase || j.Attempt != 0 {
				t.Errorf("it is in the phase %q after %d attempts", j.Phase, j.Attempt)
			}
			if then == job.WaitOnBudget && !j.PhaseUntil.Equal(until) {
				t.Errorf("it waits until %s, want %s", j.PhaseUntil, until)
			}
			if failure := j.LastFailure; then != job.FailOnBudget && (failure == nil || failure.ErrorCode != job.CodeBudgetExceeded) {
				t.Errorf("its last failure is %+v", failure)
			}
			if then == job.FailOnBudget && j.ErrorCode != job.CodeBudgetExceeded {
				t.Errorf("it failed with %s", j.ErrorCode)
			}
		})
	}
}
