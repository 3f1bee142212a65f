package lifecycle

import (
	"context"
	"time"

	"ringback/internal/job"
)

// Cancel ends a job and everything that runs for it. It returns a Conflict error with the job's
// state if the job has already ended.
func (s *Service) Cancel(ctx context.Context, id job.ID, by job.Actor) error {
	why := "Cancelled on request"
	if by.Via == job.ViaSlack {
		why = "Cancelled in Slack."
	}
	return s.runDurably(
		ctx, Query{Job: id}, func(st *State) error { return st.end(id, job.Cancelled, job.CodeCancelled, why, Holder{}) },
	)
}

// End ends a job as cancelled, rejected or failed. It returns a Conflict error if the job has
// already ended. If h does not own the turn, it does nothing.
func (s *Service) End(ctx context.Context, id job.ID, state job.State, code job.Code, message string, h Holder) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error { return st.end(id, state, code, message, h) })
}

func (st *State) end(id job.ID, to job.State, code job.Code, message string, h Holder) error {
	j := st.Job
	if j == nil {
		return job.NoJob(id)
	}
	if h.check(j) != nil && !j.State.Terminal() {
		return nil
	}
	if _, may := job.FindTransition(j.State, j.Phase, to, job.NoPhase); !may {
		return job.Errorf(job.Conflict, "The job is already %s", j.State).WithHint("Only a job that has not ended can end now.")
	}
	if to == job.Failed {
		return st.fail(j, to, code, message, message)
	}
	j.Error, j.Code = message, code
	st.addNotice(j.chat(), message)
	return st.finish(j, to, nil)
}

// Retry restarts an expired, failed or cancelled job, in the same conversation. It returns a
// Conflict error if the job's state does not allow it, or if another job is continuing the
// conversation.
//
// A change that was approved before the job failed is published: nobody has withdrawn the approval,
// it is for exactly these trees, and Claude has not worked since. A cancellation withdraws it, and it
// expires with the job. Claude then works again, and the review asks again.
func (s *Service) Retry(ctx context.Context, id job.ID) error {
	return s.runDurably(ctx, Query{Job: id, Latest: true}, func(st *State) error { return st.retry(id) })
}

func (st *State) retry(id job.ID) error {
	j := st.Job
	if j == nil {
		return job.NoJob(id)
	}
	if !j.State.Retryable() {
		return job.Errorf(job.Conflict, "The job is %s", j.State).WithHint("Only an expired, failed or cancelled job can be retried.")
	}
	// Only one process at a time can continue a conversation.
	if other := st.Latest.Get(); other != nil && other != j && !other.State.Terminal() && other.root() == j.root() {
		return job.Errorf(job.Conflict, "The job %s continues the conversation", other.ID).
			WithHint("Let it end or cancel it first, or write in the chat.")
	}
	st.stopClock(PurgeClock, string(id))
	st.do(ForgetReports{id})
	st.noteFailure(j, j.Code, j.Error)
	if j.State != job.Failed {
		j.Reviewed = ""
	}
	st.reopenReview(j)
	j.Error, j.Code, j.FinishedAt, j.Attempt = "", "", job.Job{}.FinishedAt, 0
	j.ResumeReason, j.Submitted, j.BlockedSince = &ResumeReason{Reason: Retried}, false, time.Time{}
	// Its last process may not have exited yet.
	if err := st.moveWithFailure(j, job.Pending, j.waitingPhase()); err != nil {
		return err
	}
	st.Session.Get().Job = id // further messages of its user are for this job
	return st.startNextTurn(j)
}

// root returns the job that began the conversation.
func (j *Job) root() job.ID {
	if j.Root != "" {
		return j.Root
	}
	return j.ID
}
