package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/review"
	"ringback/internal/turn/workspace"
)

// claudeTurn is an owned turn that has a process.
type claudeTurn struct {
	*ownedTurn
	proc *process.Process
	out  *output
	// worker is released when the process has ended.
	worker *slot
	pulse  *pulse
	// stalled is the reason why the turn was ended as hung; "" if it was not.
	stalled string
	// isOver is true if the CLI was ended because it had printed its result and did not exit.
	isOver bool
	// isStopped is true if the server has ended the process.
	isStopped bool
}

// start runs a claimed turn in the background. It occupies a worker until the turn is
// over.
func (r *Runner) start(serving context.Context, st *lifecycle.Turn) {
	r.turns.Go(func() {
		worker := &slot{r: r, held: true}
		defer worker.release()
		if !r.supersede(serving, st.Job.ID) {
			return // the next start finds the turn in the store
		}
		r.uses.change(st.Job.ID, func(u *apiUse) { u.meter = nil })
		var change *review.Change
		err := r.withStore(serving, st.Job.ID, func() (err error) {
			change, err = r.changeOf(st.Job)
			return err
		})
		if err != nil {
			r.failedToStart(serving, st, worker, err)
			return
		}
		if step := change.Next(st.Answers); step != nil {
			r.stopProbe(st.Job.ID)
			end := r.newTurnEnd(st.Job.ID, st.Job.Turn, lifecycle.Replied)
			end.Begun = st.Begun
			r.nodeDir.removeTurn(st.Job.ID, st.Job.Turn)
			r.runStep(serving, st.Job, change, step, end, worker)
			return
		}
		if err := r.leaveSubmission(serving, st); err != nil {
			r.failedToStart(serving, st, worker, err)
			return
		}
		r.runClaude(serving, st, change, worker)
	})
}

// leaveSubmission gives a turn back to Claude if this node no longer has the files of
// the submitted change.
func (r *Runner) leaveSubmission(serving context.Context, st *lifecycle.Turn) error {
	j := st.Job
	if !j.Submitted {
		return nil
	}
	st.ResumeReason = &lifecycle.ResumeReason{Reason: lifecycle.Lost}
	r.log.Warn("files of a submitted change are missing: asking Claude again", "requestId", j.ID, "turn", j.Turn)
	return r.withStore(serving, j.ID, func() error {
		return r.jobs.LeaveSubmission(serving, j.ID, lifecycle.Holder{Turn: j.Turn, Node: r.nodeDir.node})
	})
}

func (r *Runner) changeOf(j job.Job) (*review.Change, error) {
	k, err := r.kindOf(j)
	if err != nil {
		return nil, err
	}
	return r.review.Change(k, j)
}

// runClaude runs a turn that needs Claude.
func (r *Runner) runClaude(serving context.Context, st *lifecycle.Turn, change *review.Change, worker *slot) {
	ctx, t := r.own(serving, st.Job, change, nil)
	defer t.disown()
	t.watch(r.opts.StartTimeout)
	r.nodeDir.removeTurn(st.Job.ID, st.Job.Turn)
	var proc *process.Process
	err := r.withStore(ctx, st.Job.ID, func() (err error) {
		proc, err = t.launch(ctx, st, worker)
		return err
	})
	if proc == nil && !t.become(ended) { // it was given up
		return
	}
	if proc == nil && t.prepared && errors.Is(err, errDelivered) { // a person in the role of Claude was faster
		end := r.newTurnEnd(st.Job.ID, st.Job.Turn, lifecycle.Unfinished)
		end.Unstarted = true
		r.runStep(serving, st.Job, change, change.Submission(), end, worker)
		return
	}
	if proc == nil {
		if change != nil && errors.Is(err, errDelivered) {
			err = &review.Error{Code: job.CodeWorkspace, Message: "A result arrived before the repositories were ready."}
		}
		r.failedToStart(serving, st, worker, err)
		return
	}
	r.warnIf(err, "could not record a process", "requestId", t.job.ID) // it runs, but a restart could not find it again
	r.log.Info("turn started", "requestId", t.job.ID, "turn", t.job.Turn, "kind", t.job.Kind, "pid", proc.PID)
	t.with(proc, worker, st.Answers).supervise(serving, ctx)
}

// launch prepares everything for Claude and starts it. Until the process exists, launch
// can be repeated.
func (t *ownedTurn) launch(ctx context.Context, st *lifecycle.Turn, worker *slot) (*process.Process, error) {
	t.watch(t.r.opts.StartTimeout) // an outage of the store is no hang
	if err := t.r.checkBudgets(ctx, st.Job); err != nil {
		return nil, err
	}
	if t.change != nil {
		if err := t.prepare(ctx, worker); err != nil {
			return nil, err
		}
	}
	d, err := t.r.command(ctx, st, t.change)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	if t.change != nil { // before Claude can report more
		t.change.ShowPhase(ctx, job.AtWork)
	}
	version := job.CLISimulated
	if !t.job.Simulated {
		version = t.r.cli.version(ctx)
	}
	if err := t.r.jobs.StartCLI(ctx, t.job.ID, t.holder(), version); err != nil {
		return nil, err
	}
	return t.r.startProcess(ctx, d)
}

// startProcess starts the process of a turn. A trial start, or a turn that the store has lost, had the same marker before.
func (r *Runner) startProcess(ctx context.Context, d process.Detached) (*process.Process, error) {
	r.sweeper.Clear(d.Marker)
	return process.Start(ctx, d)
}

// prepare makes the turn's repositories ready, without a worker, and then waits for one.
func (t *ownedTurn) prepare(ctx context.Context, worker *slot) error {
	t.watch(t.r.opts.PrepareTimeout)
	if err := worker.lend(func() error { return t.change.Prepare(ctx) }); err != nil {
		return err
	}
	t.prepared = true
	t.watchdog.Stop()
	if !worker.held {
		if err := t.change.AwaitWorker(ctx); err != nil {
			return err
		}
	}
	if err := worker.acquire(ctx); err != nil {
		return err
	}
	t.watch(t.r.opts.StartTimeout)
	return t.change.Begin(ctx)
}

// with returns the turn with its process and its worker. answers are those that its prompt contains.
func (t *ownedTurn) with(proc *process.Process, worker *slot, answers []job.Checkpoint) *claudeTurn {
	with := &claudeTurn{
		ownedTurn: t, proc: proc, out: t.r.newOutput(t.job, proc.Files, answers), worker: worker,
		pulse: newPulse(t.r.nodeDir.pulseFile(t.job.ID, t.job.Turn), proc.Files),
	}
	with.out.reader.LineFunc = func(l transcript.Line, end int64) {
		with.pulse.line(l, end)
		with.out.writing.line(l, end)
	}
	return with
}

// followInterval is the interval at which a process's output is read and its text is sent.
const followInterval = 100 * time.Millisecond

// supervise watches the process until it ends or the server leaves it to the next
// start. ctx is the turn's; it ends with serving.
func (t *claudeTurn) supervise(serving, ctx context.Context) {
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	bounded, stopBounding := context.WithCancel(serving)
	defer stopBounding()
	go t.bound(bounded, t.r.opts.OutputLimit)
	for {
		select {
		case <-t.proc.Done():
			t.finish(serving)
			return
		case <-ctx.Done():
			t.stop(serving, context.Cause(ctx))
			return
		case <-t.stopCommands:
			t.endCommands()
		case <-ticker.C:
			isWhole := t.out.follow()
			if t.out.reader.Started && t.become(started) {
				t.watchdog.Stop()
			}
			t.pulse.note()
			if t.r.modelAnswered(t.job.ID, t.out.reader) {
				t.r.answered(t.job.ID)
			}
			if !isWhole {
				continue // there is more to read
			}
			if t.overdue() {
				t.terminate(serving)
				return
			}
		}
	}
}

// stop ends the turn for a cause, see the errors of ownedTurn.
func (t *claudeTurn) stop(serving context.Context, cause error) {
	switch {
	case errors.Is(cause, errShutdown) && !isClosed(t.proc.Done()): // if it has ended, only this start knows how
		t.r.log.Info("turn left to the next start", "requestId", t.job.ID, "turn", t.job.Turn)
		return
	case isLost(cause):
		t.r.log.Warn(
			"turn abandoned: owned by another node", "requestId", t.job.ID, "turn", t.job.Turn,
			"why", cause,
		)
		t.proc.Kill()
		t.r.sweeper.Add(t.proc.Marker)
		t.r.forget(t.job.ID, cause)
		return
	case errors.Is(cause, errDelivered) && t.job.Options.Simulate != job.SimulateManual: // let the process report its usage
		select {
		case <-t.proc.Done():
		case <-serving.Done():
		case <-time.After(t.r.opts.Linger):
		}
	}
	t.terminate(serving)
}

func (t *claudeTurn) terminate(serving context.Context) {
	t.isStopped = true
	limit := t.r.opts.Grace + killTime
	stuck := time.AfterFunc(limit, func() {
		if t.become(givenUp) {
			t.giveUp(serving, fmt.Sprintf("Claude's process did not end within %s.", limit))
		}
	})
	t.proc.Terminate(t.r.opts.Grace)
	stuck.Stop()
	t.finish(serving)
}

// endCommands ends the commands that Claude runs and a person has stopped. Claude sees them
// fail. If the server dies before that is recorded, the next start repeats it.
func (t *claudeTurn) endCommands() {
	ended := t.proc.EndCommands(t.r.opts.Grace)
	t.r.log.Info("commands interrupted", "requestId", t.job.ID, "turn", t.job.Turn, "processes", ended)
	err := briefly(func(ctx context.Context) error { return t.r.jobs.CommandsStopped(ctx, t.job.ID, t.holder()) })
	t.r.warnIf(err, "could not record an interrupt", "requestId", t.job.ID, "turn", t.job.Turn)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// finish books the end of the process.
func (t *claudeTurn) finish(serving context.Context) {
	t.proc.Kill() // children that the process left in its group
	if !t.proc.EndedWhole() {
		t.r.sweeper.Add(t.proc.Marker)
		if t.out.size() > t.r.opts.OutputLimit {
			t.r.sweeper.Sweep() // before the files are removed: what still prints would fill the disk unseen
		}
	}
	if !t.become(ended) { // it was given up
		return
	}
	exit := t.proc.Exit()
	o := outcome{exit: exit, stalled: t.stalled, isStopped: t.isStopped}
	if t.isOver {
		o.exit = process.Exit{} // as if it had exited by itself
	}
	end, ok := t.r.settle(serving, t.job, t.out, &o, t.worker)
	switch {
	case !ok:
		t.r.log.Info("left the end of a turn to the next start", "requestId", t.job.ID, "turn", t.job.Turn)
		return
	case t.change != nil:
		t.r.runStep(serving, t.job, t.change, t.change.Submission(), end, t.worker)
	default:
		t.r.endTurn(serving, end)
	}
	level, fields := slog.LevelInfo, []any{
		"requestId", t.job.ID, "turn", t.job.Turn, "exit", exit.Code, "signal", exit.Signal, "took",
		time.Since(t.proc.Since).Round(time.Millisecond),
	}
	if exit.Known && exit.Code != 0 && exit.Signal == "" { // it failed by itself: log its standard error
		level, fields = slog.LevelWarn, append(fields, "stderr", strings.ToValidUTF8(o.stderr, "�"))
	}
	t.r.log.Log(serving, level, "turn ended", fields...)
}

func (r *Runner) hasCalledBack(id job.ID) (called bool, err error) {
	err = briefly(func(ctx context.Context) (err error) {
		called, err = r.jobs.HasCalledBack(ctx, id)
		return err
	})
	return called, err
}

// failedToStart books the end of a turn that never had a process.
func (r *Runner) failedToStart(serving context.Context, st *lifecycle.Turn, worker *slot, err error) {
	stops := errors.Is(err, errShutdown)
	if stops && (st.Job.Submitted || st.Job.Approved) { // only the next start may have the files of the change
		return
	}
	if isLost(err) {
		r.forget(st.Job.ID, err)
		return
	}
	end := r.newTurnEnd(st.Job.ID, st.Job.Turn, lifecycle.Unfinished)
	end.Unstarted, end.Again = true, false
	used, isUsedUp := errors.AsType[*job.UsedBudget](err)
	switch {
	case stops:
		end.Message, end.Backoff = "The server stopped before it had started Claude.", 0
	case isUsedUp:
		r.stopAtBudget(&end, st.Job, used)
	case errors.Is(err, errJobEnded), errors.Is(err, errDelivered), errors.Is(err, errInterrupted):
	default:
		r.log.Error("turn could not start", "requestId", st.Job.ID, "turn", st.Job.Turn, "error", err)
		end.Code, end.Message = r.whyNotStarted(err)
		end.Again = end.Code != job.CodeKindGone && end.Code != job.CodeNoCallbacks && mayPass(err)
		end.NodeFault = end.Again && r.couldNotStart(serving, st.Job, worker, err)
	}
	r.endTurn(serving, end)
}

// mayPass reports whether another attempt may succeed, as far as its repositories are concerned.
func mayPass(err error) bool {
	_, unusable := errors.AsType[*workspace.Unusable](err)
	return !unusable
}

// whyNotStarted returns the reason why turn could not start, for the job's record.
func (r *Runner) whyNotStarted(err error) (job.Code, string) {
	if failed, ok := errors.AsType[*review.Error](err); ok {
		return failed.Code, failed.Message
	}
	switch e, ok := errors.AsType[*job.Error](err); {
	case ok && e.Kind == job.Conflict: // the kind cannot run with this server's configuration
		return job.CodeNoCallbacks, e.Message + ". " + e.Hint
	case ok && e.Kind == job.NotFound:
		return job.CodeKindGone, e.Message
	case ok:
		return job.CodeSpawnFailed, "The turn could not be started: " + e.Message
	}
	reason := err.Error()
	if place, ok := errors.AsType[*fs.PathError](err); ok && place.Op != "fork/exec" {
		return job.CodeSpawnFailed, "The turn could not be started: " + reason
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "it was not found"
	case errors.Is(err, fs.ErrPermission):
		reason = "it is not executable"
	}
	return job.CodeSpawnFailed, "The Claude CLI could not be started (" + r.opts.ClaudeBin + "): " + reason + ". Check CLAUDE_BIN."
}

// newTurnEnd returns the end of a turn after which its job gets another attempt for a reason.
func (r *Runner) newTurnEnd(id job.ID, turn int, why lifecycle.Reason) lifecycle.TurnEnd {
	return lifecycle.TurnEnd{
		ID: id, Turn: turn, Node: r.nodeDir.node, Again: true, Backoff: r.opts.Backoff,
		ResumeReason: lifecycle.ResumeReason{Reason: why},
	}
}

// endTurn books the end of a turn, and retries while the store is unavailable: until
// then, the store assigns the turn to this node. It removes the files of the turn, and those of a job
// that has ended. If serving has ended, it tries only once: the next start finds the turn in the
// store.
func (r *Runner) endTurn(serving context.Context, e lifecycle.TurnEnd) {
	r.stopProbe(e.ID)
	use := r.uses.remove(e.ID) // first, because the job's next turn may start once this one is booked
	var state job.State
	err := r.withStore(serving, e.ID, func() (err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(serving), storeTimeout)
		defer cancel()
		state, err = r.bookEnd(ctx, e, use.meter)
		return err
	})
	if err != nil {
		if serving.Err() == nil {
			r.log.Error("could not record the end of a turn", "requestId", e.ID, "error", err)
		}
		return
	}
	r.booked.Add(e.ID, e.Turn)
	if state.Terminal() {
		r.removeJobFiles(e.ID)
	}
	if state != "" { // otherwise this node no longer owned it, or a response was lost
		err := briefly(func(ctx context.Context) error { return r.store.Transcripts.Pack(ctx, e.ID, e.Turn) })
		r.warnIf(err, "could not compress a transcript", "requestId", e.ID, "turn", e.Turn) // nothing depends on it
	}
	r.nodeDir.removeTurn(e.ID, e.Turn)
	if e.RateLimit != nil { // it may have ended before the job waited for it
		err := r.withStore(serving, e.ID, func() error { return r.store.Limits.Retry(serving, r.accountOf(use), e.ID) })
		r.warnIf(err, "could not check a rate limit", "requestId", e.ID)
	}
}
