package lifecycle

import (
	"context"

	"ringback/internal/job"
)

// ExpiredClock is a clock whose time has come.
type ExpiredClock struct {
	Clock Clock
	// Ref is the job or checkpoint that it belongs to.
	Ref string
}

// expiry describes how a job ends when its clock expires.
type expiry struct {
	code job.Code
	// message is for the record, and toUser for the person.
	message, toUser string
}

var expiries = map[Clock]expiry{
	CallbackClock: {job.CodeCallbackTimeout, "Claude did not respond in time", "Request timed out. Please try again."},
	QueueClock:    {job.CodeQueueTimeout, "No worker became free in time", "The server was too busy. Please try again later."},
	HumanClock:    {job.CodeHumanTimeout, "No one answered in time", "No one answered in time. Please start again."},
}

// ClockOf returns the clock that ends a state if nothing else does.
func ClockOf(state job.State) Clock {
	switch state {
	case job.Pending:
		return QueueClock
	case job.AwaitingApproval, job.AwaitingInput:
		return HumanClock
	case job.Running:
		return CallbackClock
	default:
	}
	return PurgeClock
}

// Fire handles an expired clock. It is idempotent and safe for concurrent calls: it checks again
// whether the clock is still set.
func (s *Service) Fire(ctx context.Context, d ExpiredClock) error {
	switch d.Clock {
	case LapseClock, ForgetClock, ApprovalClock:
		id := job.CheckpointID(d.Ref)
		return s.run(
			ctx, Query{Checkpoint: id, Clock: d.Clock, Approvals: true},
			func(st *State) error { return st.fireForCheckpoint(d.Clock, id) },
		)
	default:
	}
	id := job.ID(d.Ref)
	return s.run(
		ctx, Query{Job: id, Clock: d.Clock, Belongings: d.Clock == PurgeClock},
		func(st *State) error { return st.fireForJob(d.Clock, id) },
	)
}

func (st *State) fireForJob(clock Clock, id job.ID) error {
	j := st.Job
	if j == nil {
		st.stopClock(clock, string(id))
		return nil
	}
	if !st.isDue() {
		return nil // it was stopped or restarted in the meantime
	}
	st.stopClock(clock, string(id))
	if clock == PurgeClock {
		switch due := j.FinishedAt.Add(j.Retention); {
		case !j.State.Terminal():
		case due.After(st.Now): // the clock is that of an earlier end
			st.do(SetClock{PurgeClock, string(id), due})
		default:
			j.Deleted = j.Belongings.Get()
		}
		return nil
	}
	switch clock {
	case HoldClock: // the asking call has waited long enough, and the process that served it is gone
		return st.stopHolding(j)
	case RetryClock:
		return st.retryNow(j)
	default:
	}
	if j.State.Terminal() {
		return nil
	}
	e := expiries[clock]
	return st.fail(j, job.Expired, e.code, e.message, e.toUser)
}

// isDue reports whether the clock that the query names has expired.
func (st *State) isDue() bool {
	due := st.Due.Get()
	return !due.IsZero() && !due.After(st.Now)
}

// retryNow ends the delay before another attempt.
func (st *State) retryNow(j *Job) error {
	if j.State != job.Pending {
		return nil
	}
	j.PhaseUntil = job.Job{}.PhaseUntil
	st.setClock(j, QueueClock, j.QueueTimeout)
	return st.enqueue(j)
}

func (st *State) fireForCheckpoint(clock Clock, id job.CheckpointID) error {
	c := st.Checkpoint.Get()
	if c != nil && !st.isDue() {
		return nil
	}
	st.stopClock(clock, string(id))
	if c == nil {
		return nil
	}
	switch clock {
	case LapseClock:
		if !c.Status.Waits() {
			return nil
		}
		st.addNotice(st.checkpointChat(c), expiries[HumanClock].toUser)
		return st.closeCheckpoint(c, job.CheckpointExpired)
	case ForgetClock:
		c.Deleted = true
	case ApprovalClock: // any attempt to use the approval now is refused
		if j := st.Job; j != nil && c.Type != job.Review && j.isUnused(c.ID) {
			st.conclude(j, c, is(job.OutcomeNotRun, approvalExpired))
			st.failCall(j.chat(), c.ToolCallID, "expired")
		}
	default:
	}
	return nil
}
