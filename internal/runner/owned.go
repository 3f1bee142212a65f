package runner

import (
	"context"
	"errors"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/review"
)

// Why the context of an owned turn ends, by context.Cause.
var (
	// errShutdown: the server stops. What runs for the turn goes on running; the next
	// start adopts it, or does again what was cut off.
	errShutdown = errors.New("the server stops")
	// errDelivered: Claude has done its part, by a result, a question, or a change. Its
	// process may end by itself.
	errDelivered = errors.New("the turn has delivered")
	// errJobEnded: the job needs the turn no more. Its process is told to end.
	errJobEnded = errors.New("the job has ended")
	// errInterrupted: a person has stopped the turn. Its process is told to end, and the job goes on
	// in another one.
	errInterrupted = errors.New("the turn was interrupted")
	// errBegunAnew: the store has gone back to before the turn was begun, and it was begun
	// once more. Its process is ended, and nothing is booked, for that would be about the
	// other one.
	errBegunAnew = errors.New("the turn was begun anew")
	// errSuperseded: this node was silent for too long, and the job goes on elsewhere. What
	// runs for the turn is killed.
	errSuperseded = errors.New("the turn is another node's by now")
)

// ownedTurn is a turn that the store has given to this node: from its claim or its
// adoption until its end is booked, or the server leaves it to its next start.
type ownedTurn struct {
	r   *Runner
	job job.Job // as it was when the turn began
	// change is the job's work on repositories; nil for none.
	change *review.Change
	// step is what is done for the turn where no process of Claude's is needed; nil
	// while Claude is at work.
	step review.Step
	end  context.CancelCauseFunc
	// stopCommands holds a value when a person has stopped what Claude runs.
	stopCommands chan struct{}
	// over is closed when nothing is done for it any more.
	over chan struct{}
}

// own makes a turn this node's in memory, too: from now on it hears of the end of its
// job. The context that it returns ends with it, and with serving, which ends with
// errShutdown. There is one owned turn of a job; a later one takes its place.
func (r *Runner) own(serving context.Context, j job.Job, change *review.Change, step review.Step) (context.Context, *ownedTurn) {
	ctx, end := context.WithCancelCause(serving)
	t := &ownedTurn{r: r, job: j, change: change, step: step, end: end, stopCommands: make(chan struct{}, 1), over: make(chan struct{})}
	r.mu.Lock()
	r.owned[j.ID] = t
	r.mu.Unlock()
	return ctx, t
}

// disown forgets the turn: its end is booked, or it is left to the next start.
func (t *ownedTurn) disown() {
	t.r.mu.Lock()
	if t.r.owned[t.job.ID] == t {
		delete(t.r.owned, t.job.ID)
	}
	t.r.mu.Unlock()
	t.end(nil)
	close(t.over)
}

// supersede ends what still runs for a job of which a turn was begun; false when serving
// has ended before that.
func (r *Runner) supersede(serving context.Context, id job.ID) bool {
	before := r.ownedTurnOf(id)
	if before == nil {
		return true
	}
	before.end(errBegunAnew) // mostly it is over, but for being forgotten
	select {
	case <-before.over:
		return true
	case <-serving.Done():
		return false
	}
}

// isLost reports whether a turn ends since it is not this one's to end any more.
func isLost(cause error) bool {
	return errors.Is(cause, errBegunAnew) || errors.Is(cause, errSuperseded) || errors.Is(cause, lifecycle.ErrSuperseded)
}

// letGo forgets a turn that is lost. Nothing is booked: where the store has lost it, it may
// have been begun anew under the same number, and its end would count as that one's.
func (r *Runner) letGo(id job.ID, cause error) {
	if errors.Is(cause, errBegunAnew) {
		return // what is known of the job is the other one's
	}
	r.stopTrying(id)
	r.limits.end(id)
	r.meters.forget(id)
}

// jobEnded ends the turn of a job; cause is errDelivered or errJobEnded.
func (r *Runner) jobEnded(id job.ID, cause error) {
	if t := r.ownedTurnOf(id); t != nil {
		t.end(cause)
	}
}

func (r *Runner) ownedTurnOf(id job.ID) *ownedTurn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owned[id]
}

// check compares the turn with the store, which alone knows: the job may have ended,
// or another node may have taken it over, while nobody listened.
func (t *ownedTurn) check() {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	j, err := t.r.store.Get(ctx, t.job.ID)
	if job.HasKind(err, job.NotFound) {
		t.r.log.Warn("the store does not know the job any more: its turn is ended", "requestId", t.job.ID, "turn", t.job.Turn)
		t.end(errJobEnded)
	}
	if err != nil {
		return // the store is away; the process works on
	}
	if j.Turn < t.job.Turn {
		t.r.log.Warn("the store has gone back to before this turn: it is ended", "requestId", t.job.ID, "turn", t.job.Turn, "now", j.Turn)
	}
	if cause := t.endState(j); cause != nil {
		t.end(cause)
		return
	}
	if i := j.Interrupted(); i != nil && !i.Done {
		select {
		case t.stopCommands <- struct{}{}:
		default:
		}
	}
}

// endState is why the turn is to end, by the record as it is now; nil where it goes
// on.
func (t *ownedTurn) endState(now job.Job) error {
	switch {
	case now.Turn != t.job.Turn, now.State == job.Running && now.Node != t.job.Node, now.State == job.Pending && now.Phase != job.WaitingForExit:
		return errSuperseded
	case now.State == job.Received:
		return errDelivered
	case now.State.Terminal(), now.State == job.Pending: // pending: the reply came, and the next turn waits for this one's end
		return errJobEnded
	case now.State.Parked() && (now.Checkpoint == nil || !now.Checkpoint.Held): // Claude was told to stop
		return errDelivered
	case now.Submitted && t.step == nil:
		return errDelivered
	case now.State == job.Running && t.step == nil && now.Interrupted() != nil && now.Interrupt.Scope == job.InterruptTurn:
		return errInterrupted
	}
	return nil
}

// pollInterval is how long the runner waits before it asks a store again that was
// away.
const pollInterval = 500 * time.Millisecond

// storeTimeout bounds a call of the store that does not end with a turn.
const storeTimeout = 5 * time.Second

// withStore does something that may be done again, until the store is there for all of
// it: that the store was away is not the job's fault, and costs it no attempt.
func (r *Runner) withStore(ctx context.Context, id job.ID, do func() error) error {
	for said := false; ; said = true {
		err := do()
		if ctx.Err() != nil && err != nil {
			return context.Cause(ctx)
		}
		if !job.HasKind(err, job.Unavailable) {
			return err
		}
		if !said {
			r.log.Warn("the store is away, trying again until it is back", "requestId", id, "error", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}

// runStep does what is left of a turn where no process is needed, and books the turn's
// end.
func (r *Runner) runStep(serving context.Context, j job.Job, change *review.Change, step review.Step, end lifecycle.TurnEnd, worker *place) {
	ctx, t := r.own(serving, j, change, step)
	defer t.disown()
	err := worker.lend(func() error {
		return r.withStore(ctx, j.ID, func() error { return step.Run(ctx) })
	})
	if errors.Is(err, errShutdown) {
		r.log.Info("left a change to the next start", "requestId", j.ID, "turn", j.Turn)
		return
	}
	if isLost(err) {
		r.log.Info("left a change, for this node has its turn no more", "requestId", j.ID, "turn", j.Turn)
		r.letGo(j.ID, err)
		return
	}
	if failed, ok := errors.AsType[*review.Error](err); ok {
		r.log.Error("going on with a change", "requestId", j.ID, "turn", j.Turn, "error", err)
		end.Code, end.Message = failed.Code, failed.Message
		end.ResumeReason = lifecycle.ResumeReason{Reason: lifecycle.Unfinished, Detail: failed.Message}
	}
	r.endTurn(serving, end)
}
