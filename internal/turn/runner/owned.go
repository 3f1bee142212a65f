package runner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/review"
)

// The reasons why the context of an owned turn ends, by context.Cause.
var (
	// errShutdown: the server stops. The turn's process keeps running. The next start
	// adopts it, or repeats the step that was cut off.
	errShutdown = errors.New("the server stops")
	// errDelivered: Claude has delivered a result, a question or a change. Its process may
	// end by itself.
	errDelivered = errors.New("the turn has delivered")
	// errJobEnded: the job no longer needs the turn. Its process is terminated.
	errJobEnded = errors.New("the job has ended")
	// errInterrupted: a person has stopped the turn. Its process is terminated, and the job
	// continues in another turn.
	errInterrupted = errors.New("the turn was interrupted")
	// errRestarted: the store has reverted to a state before the turn was started, and the
	// turn was started again. Its process is terminated. Nothing is booked, because that
	// would affect the other turn.
	errRestarted = errors.New("the turn was started again")
	// errSuperseded: this node was silent for too long, and the job continues elsewhere.
	// The turn's processes are killed.
	errSuperseded = errors.New("another node has taken over the turn")
)

// ownedTurn is a turn that the store has assigned to this node: from its claim or
// adoption until its end is booked, or the server leaves it to its next start.
type ownedTurn struct {
	r   *Runner
	job job.Job // as it was when the turn began
	// change is the job's work on repositories; nil for none.
	change *review.Change
	// prepared is true once the change's repositories are there.
	prepared bool
	// step is the step that runs instead of Claude's process; nil while Claude is at work.
	step review.Step
	end  context.CancelCauseFunc
	// stopCommands holds a value if a person has stopped the commands that Claude runs.
	stopCommands chan struct{}
	// watchdog gives the turn up if its CLI does not start in time, whether it hangs or the server does while it
	// prepares the start. It does not run while the turn only waits for a worker.
	watchdog *time.Timer
	timeout  atomic.Int64 // of the watchdog, a time.Duration
	// fate decides between what happens to the turn at the same time.
	fate atomic.Int32
	// over is closed when nothing runs for the turn any more, or its job goes on without it.
	over chan struct{}
}

// The fates of a turn. It has one after the other, except that an ended turn is not given up.
const (
	starting int32 = iota
	started        // its CLI has printed its first line
	ended          // its own goroutine books its end, or leaves it to the next start
	givenUp        // it hangs, and another attempt is made
)

// become gives the turn a later fate. It returns false if the turn had that already, has ended or was given up.
func (t *ownedTurn) become(fate int32) bool {
	for now := t.fate.Load(); now < min(fate, ended); now = t.fate.Load() {
		if t.fate.CompareAndSwap(now, fate) {
			return true
		}
	}
	return false
}

func (t *ownedTurn) holder() lifecycle.Holder {
	return lifecycle.Holder{Turn: t.job.Turn, Node: t.r.nodeDir.node}
}

// own registers a turn in memory, so that it is notified of the end of its job. The
// returned context ends with the turn and with serving, which ends with errShutdown. A
// job has one owned turn; a later one replaces it.
func (r *Runner) own(serving context.Context, j job.Job, change *review.Change, step review.Step) (context.Context, *ownedTurn) {
	ctx, end := context.WithCancelCause(serving)
	t := &ownedTurn{
		r: r, job: j, change: change, step: step, end: end, stopCommands: make(chan struct{}, 1), over: make(chan struct{}),
	}
	t.watchdog = time.AfterFunc(time.Hour, func() { t.giveUpUnlessStarted(serving) })
	t.watchdog.Stop() // until watch starts it
	r.mu.Lock()
	r.owned[j.ID] = t
	r.mu.Unlock()
	return ctx, t
}

// disown removes the turn: its end is booked, or it is left to the next start.
func (t *ownedTurn) disown() {
	t.watchdog.Stop()
	if t.become(ended); t.fate.Load() == ended {
		t.remove()
	}
}

func (t *ownedTurn) remove() {
	t.end(nil)
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if t.r.owned[t.job.ID] == t {
		delete(t.r.owned, t.job.ID)
	}
	if !isClosed(t.over) {
		close(t.over)
	}
}

// watch starts the watchdog again, for what takes less time than this unless it hangs.
func (t *ownedTurn) watch(timeout time.Duration) {
	t.timeout.Store(int64(timeout))
	t.watchdog.Reset(timeout)
}

// giveUpUnlessStarted gives the turn up if its CLI has neither printed a line nor called back.
func (t *ownedTurn) giveUpUnlessStarted(serving context.Context) {
	if t.fate.Load() != starting { // the watchdog was stopped as it fired
		return
	}
	timeout := time.Duration(t.timeout.Load())
	if called, err := t.r.hasCalledBack(t.job.ID); called || err != nil {
		t.watchdog.Reset(timeout)
		return
	}
	if t.fate.CompareAndSwap(starting, givenUp) {
		t.giveUp(serving, fmt.Sprintf("Claude printed nothing for %s.", timeout))
	}
}

// giveUp gives the turn's job to another attempt, even if the turn's own goroutine hangs: at an operation on its
// files, or because the system does not end its process. When that goes on, it only ends the process.
func (t *ownedTurn) giveUp(serving context.Context, why string) {
	t.r.stalled.Add(1)
	t.r.log.Error("stalled turn abandoned", "requestId", t.job.ID, "turn", t.job.Turn, "why", why)
	t.end(errRestarted)
	t.r.sweeper.Add(t.r.nodeDir.marker(t.job.ID, t.job.Turn))
	end := t.r.newTurnEnd(t.job.ID, t.job.Turn, lifecycle.Unfinished)
	end.Code, end.Message, end.ResumeReason.Detail = job.CodeStalled, why, why
	end.NodeFault = t.r.couldNotStart(serving, t.job, &slot{r: t.r}, nil)
	t.r.endTurn(serving, end)
	t.remove()
}

// supersede ends the earlier turn of a job after its turn was started again. It returns
// false if serving ends first.
func (r *Runner) supersede(serving context.Context, id job.ID) bool {
	before := r.ownedTurnOf(id)
	if before == nil {
		return true
	}
	before.end(errRestarted) // usually it is over, but not yet removed
	select {
	case <-before.over:
		return true
	case <-serving.Done():
		return false
	}
}

// isLost reports whether a turn ends because this node no longer owns it.
func isLost(cause error) bool {
	return errors.Is(cause, errRestarted) || errors.Is(cause, errSuperseded) || errors.Is(cause, lifecycle.ErrSuperseded)
}

// forget forgets a lost turn. Nothing is booked: if the store has lost the turn, another one
// may have been started under the same number, and the end would count as that one's.
func (r *Runner) forget(id job.ID, cause error) {
	if errors.Is(cause, errRestarted) {
		return // the state of the job belongs to the other turn
	}
	r.stopProbe(id)
	r.uses.remove(id)
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

// check compares the turn with the store, which is authoritative: the job may have
// ended, or another node may have taken it over, and the event was missed.
func (t *ownedTurn) check() {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	j, err := t.r.store.Get(ctx, t.job.ID)
	if job.HasKind(err, job.NotFound) {
		t.r.log.Warn("turn ended: job unknown to the store", "requestId", t.job.ID, "turn", t.job.Turn)
		t.end(errJobEnded)
	}
	if err != nil {
		return // the store is unavailable; the process keeps working
	}
	if j.Turn < t.job.Turn {
		t.r.log.Warn(
			"turn ended: the store was restored to an earlier state", "requestId", t.job.ID, "turn", t.job.Turn, "now", j.Turn,
		)
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

// endState returns why the turn must end according to the current record, or nil if it
// continues.
func (t *ownedTurn) endState(now job.Job) error {
	switch {
	case now.Turn != t.job.Turn, now.State == job.Running && now.Node != t.job.Node,
		now.State == job.Pending && now.Phase != job.WaitingForExit:
		return errSuperseded
	case now.State == job.Received:
		return errDelivered
	case now.State.Terminal(), now.State == job.Pending:
		// pending: the reply has arrived, and the next turn waits for the end of this one
		return errJobEnded
	case now.State.Parked() && (now.Checkpoint == nil || !now.Checkpoint.Held): // Claude has been asked to stop
		return errDelivered
	case now.Submitted && t.step == nil:
		return errDelivered
	case now.State == job.Running && t.step == nil && now.Interrupted() != nil && now.Interrupt.Scope == job.InterruptTurn:
		return errInterrupted
	}
	return nil
}

// pollInterval is the delay before the runner retries an unavailable store.
const pollInterval = 500 * time.Millisecond

// storeTimeout limits a call to the store that does not use a turn's context.
const storeTimeout = 5 * time.Second

// briefly makes one call to the store that does not use a turn's context.
func briefly(call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	return call(ctx)
}

// warnIf logs an error after which the runner continues as before; nil logs nothing.
func (r *Runner) warnIf(err error, message string, fields ...any) {
	if err != nil {
		r.log.Warn(message, append(fields, "error", err)...)
	}
}

// withStore runs an idempotent function, and retries it while the store is unavailable.
// An outage of the store is not the job's fault and costs no attempt.
func (r *Runner) withStore(ctx context.Context, id job.ID, do func() error) error {
	for logged := false; ; logged = true {
		err := do()
		if ctx.Err() != nil && err != nil {
			return context.Cause(ctx)
		}
		if !job.HasKind(err, job.Unavailable) {
			return err
		}
		if !logged {
			r.log.Warn("store unavailable, retrying", "requestId", id, "error", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}

// runStep runs the remaining step of a turn that needs no process, and books the turn's
// end.
func (r *Runner) runStep(
	serving context.Context, j job.Job, change *review.Change, step review.Step, end lifecycle.TurnEnd, worker *slot,
) {
	ctx, t := r.own(serving, j, change, step)
	defer t.disown()
	err := worker.lend(func() error {
		return r.withStore(ctx, j.ID, func() error { return step.Run(ctx) })
	})
	if errors.Is(err, errShutdown) {
		r.log.Info("change left to the next start", "requestId", j.ID, "turn", j.Turn)
		return
	}
	if isLost(err) {
		r.log.Info("change abandoned: turn now owned by another node", "requestId", j.ID, "turn", j.Turn)
		r.forget(j.ID, err)
		return
	}
	if failed, ok := errors.AsType[*review.Error](err); ok {
		r.log.Error("could not continue a change", "requestId", j.ID, "turn", j.Turn, "error", err)
		end = withFailedStep(end, failed)
		end.NodeFault = end.Again && r.isAtFault(serving, j, worker, failed)
	}
	r.endTurn(serving, end)
}

// withFailedStep returns the end of a turn whose last step has failed, which was the server's own work. What
// has ended Claude before, such as a limit, does not decide about it.
func withFailedStep(end lifecycle.TurnEnd, failed *review.Error) lifecycle.TurnEnd {
	end.Code, end.Message, end.Again, end.Budget, end.RateLimit = failed.Code, failed.Message, mayPass(failed), nil, nil
	end.ResumeReason = lifecycle.ResumeReason{Reason: lifecycle.Unfinished, Detail: failed.Message}
	return end
}
