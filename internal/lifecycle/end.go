package lifecycle

import (
	"context"

	"ringback/internal/job"
)

// Cancel ends a job and all that runs for it. A Conflict error says in which state
// it has ended already.
func (s *Service) Cancel(ctx context.Context, id job.ID, by job.Actor) error {
	why := "Cancelled on request"
	if by.Via == job.ViaSlack {
		why = "Cancelled in Slack."
	}
	return s.promise(ctx, Query{Job: id}, func(st *State) error { return st.end(id, job.Cancelled, job.CodeCancelled, why, Holder{}) })
}

// End ends a job as cancelled, rejected or failed. It returns a Conflict error
// when the job has ended already. Where h does not have the turn, nothing happens.
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

// Retry starts an expired, failed or cancelled job again, in the same conversation. A
// Conflict error says why it cannot: the state that it is in, or that another job goes
// on with its conversation at this moment.
func (s *Service) Retry(ctx context.Context, id job.ID) error {
	return s.promise(ctx, Query{Job: id, Latest: true}, func(st *State) error { return st.retry(id) })
}

func (st *State) retry(id job.ID) error {
	j := st.Job
	if j == nil {
		return job.NoJob(id)
	}
	if !j.State.Retryable() {
		return job.Errorf(job.Conflict, "The job is %s", j.State).WithHint("Only an expired, failed or cancelled job can be retried.")
	}
	// Only one process at a time can go on with a conversation.
	if other := st.Latest; other != nil && other != j && !other.State.Terminal() && other.root() == j.root() {
		return job.Errorf(job.Conflict, "The job %s goes on with the conversation", other.ID).
			WithHint("Let it end or cancel it first, or write in the chat.")
	}
	st.do(StopClock{PurgeClock, string(id)}, ForgetReports{id})
	st.noteFailure(j, j.Code, j.Error)
	j.Error, j.Code, j.FinishedAt, j.Attempt = "", "", job.Job{}.FinishedAt, 0
	j.ResumeReason, j.Submitted = &ResumeReason{Reason: Retried}, false
	// Its last process may still be ending.
	if err := st.moveWithFailure(j, job.Pending, j.waitingPhase()); err != nil {
		return err
	}
	st.Session.Job = id // what its user writes now is for this job
	return st.startNextTurn(j)
}

// root is the job that began the conversation.
func (j *Job) root() job.ID {
	if j.Root != "" {
		return j.Root
	}
	return j.ID
}
