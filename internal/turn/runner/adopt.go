package runner

import (
	"context"
	"time"

	"ringback/internal/job"
	"ringback/internal/sandbox/process"
	"ringback/internal/store"
	"ringback/internal/turn/review"
)

// reconcile repairs what this node has missed: wake-ups, turns that the store assigns to
// this node, files of jobs that are gone. It runs at the next heartbeat after a doubt and
// otherwise every few heartbeats. It ends with ctx: a node that takes no new turns adopts
// none either.
func (r *Runner) reconcile(ctx, serving context.Context) {
	ticker := time.NewTicker(r.opts.Heartbeat)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		doubtful := r.doubtful.Swap(false)
		if doubtful || n%reconcileEvery == 0 {
			r.queue.LookAll()
			r.reconcileTurns(ctx, serving, false)
		}
		if n%reconcileEvery == 0 {
			r.removeForgotten(ctx)
		}
	}
}

// reconcileEvery is the number of heartbeats between reconciliations without a doubt.
const reconcileEvery = 12

// reconcileTurns compares the turns that the store assigns to this node with those that
// it runs. An unknown turn was left by an earlier start of this node, see adoptOrFail.
// first is set before this start has taken any job. Later, an unknown turn may just be
// starting, so it is checked again at the next heartbeat.
func (r *Runner) reconcileTurns(ctx, serving context.Context, first bool) {
	held, isComplete := r.storedTurns(ctx)
	known, unknown := map[job.ID]int{}, map[store.OwnedTurn]bool{}
	for _, h := range held {
		known[h.ID] = h.Turn
		switch {
		case r.ownedTurnOf(h.ID) != nil:
		case (first || r.unknownTurns[h]) && r.adoptOrFail(ctx, serving, h):
		default:
			unknown[h] = true
			r.doubtful.Store(true)
		}
	}
	r.unknownTurns = unknown
	if !isComplete { // what is not listed may exist
		return
	}
	r.removeLeftovers(known)
	r.sweepStrays(ctx, held)
}

// storedTurns returns the turns that the store assigns to this node. It puts back queue
// entries without a started turn, because the store was unavailable or an earlier start
// of this node died at that moment. No turn starts while it runs. isComplete is false if some, or all, partitions of
// the store are unavailable.
func (r *Runner) storedTurns(ctx context.Context) (held []store.OwnedTurn, isComplete bool) {
	r.taking.Lock()
	defer r.taking.Unlock()
	err := r.becomeAlive(ctx) // another server may hold this node's name by now
	if err != nil {
		r.doubtful.Store(true)
		return nil, false
	}
	held, unstarted, err := r.store.Nodes.OwnedBy(ctx, r.nodeDir.node)
	if err != nil {
		r.doubtful.Store(true)
	}
	for _, taken := range unstarted {
		if err := r.jobs.PutBack(ctx, taken); err != nil {
			r.log.Error("could not requeue a job", "requestId", taken.JobID, "error", err)
		}
	}
	return held, err == nil
}

// adoptOrFail continues a turn that an earlier start left. It adopts Claude's process.
// If there is none, and the process has delivered a change or was not needed, it runs
// the remaining step. Otherwise it books that the process is lost, so that Claude is
// started again. It returns false if the store is unavailable.
func (r *Runner) adoptOrFail(ctx, serving context.Context, h store.OwnedTurn) bool {
	j, err := r.store.Get(ctx, h.ID)
	if err != nil {
		return false
	}
	j.Turn = h.Turn // the record may be newer
	answers, err := r.store.Checkpoints.Answers(ctx, h.ID)
	if err != nil {
		return false
	}
	change, err := r.changeOf(j) // nil if the version cannot be read
	if job.HasKind(err, job.Unavailable) {
		return false
	}
	files := r.nodeDir.turnFiles(h.ID, h.Turn)
	proc, err := process.Adopt(files, r.nodeDir.marker(h.ID, h.Turn), r.doorsOf(j)...)
	if proc == nil && err == nil {
		proc, err = process.Adopt(files, oldMarker(h.ID, h.Turn), r.doorsOf(j)...)
	}
	if err != nil {
		r.log.Error("could not adopt a turn", "requestId", h.ID, "error", err)
	}
	if proc != nil {
		r.adopt(serving, j, change, proc, answers)
		return true
	}
	r.sweeper.Add(r.nodeDir.marker(h.ID, h.Turn))
	r.sweeper.Add(oldMarker(h.ID, h.Turn))
	booked, isKnown := r.booked.Get(h.ID)
	o := outcome{isGone: true, isBooked: isKnown && booked == h.Turn}
	step := change.Next(answers)
	switch {
	case step != nil:
	case o.isBooked:
		r.log.Warn("turn end lost by the store", "requestId", h.ID, "turn", h.Turn)
	default:
		r.log.Warn("turn lost its process", "requestId", h.ID, "turn", h.Turn)
	}
	end, ok := r.settle(ctx, j, r.newOutput(j, files, answers).adopt(), &o, &slot{r: r})
	switch {
	case !ok:
	case step != nil:
		// The step is not Claude's: the conversation remains valid, whatever is left of its output.
		end.Begun = true
		r.turns.Go(func() { r.runStep(serving, j, change, step, end, &slot{r: r}) })
	default:
		r.endTurn(ctx, end)
	}
	return ok
}

// adopt supervises a process that an earlier start has left.
func (r *Runner) adopt(
	serving context.Context, j job.Job, change *review.Change, proc *process.Process, answers []job.Checkpoint,
) {
	ctx, t := r.own(serving, j, change, nil)
	t.watch(r.opts.StartTimeout)
	if change != nil && j.Phase == job.Preparing { // the store was unavailable when Claude began
		change.ShowPhase(ctx, job.AtWork)
	}
	t.check() // the job may have ended or continued before this start subscribed
	r.turns.Go(func() {
		defer t.disown()
		worker := &slot{r: r}
		defer worker.release()
		select {
		case <-r.free: // all may be taken
			worker.held = true
		default:
		}
		adopted := t.with(proc, worker, answers)
		adopted.out.adopt()
		r.log.Info("turn adopted", "requestId", j.ID, "turn", j.Turn, "pid", proc.PID)
		adopted.supervise(serving, ctx)
	})
}

// findStrays notes the turns whose processes run before this start has begun any.
func (r *Runner) findStrays() {
	for _, simulated := range []bool{false, true} { // an earlier start may have died during a trial start
		r.sweeper.Add(r.nodeDir.marker(r.nodeDir.trialID(simulated), 1))
	}
	r.strays = map[string]bool{}
	process.Marked(func(marker string) bool {
		if id, node := turnOf(marker); id != "" && (node == "" || node == r.nodeDir.node) { // another node's are left alone
			r.strays[marker] = true
		}
		return false
	})
}

// sweepStrays ends what has escaped from the process groups of turns that this node ran and no longer owns: the
// server may have died before it swept them. While the store is unavailable, the rest waits for the next call.
func (r *Runner) sweepStrays(ctx context.Context, held []store.OwnedTurn) {
	for _, h := range held { // adoptOrFail decides about these
		delete(r.strays, r.nodeDir.marker(h.ID, h.Turn))
		delete(r.strays, oldMarker(h.ID, h.Turn))
	}
	for m := range r.strays {
		id, node := turnOf(m)
		j, err := r.store.Get(ctx, id)
		if err != nil && !job.HasKind(err, job.NotFound) {
			r.doubtful.Store(true)
			return
		}
		delete(r.strays, m)
		// Those of another store are left alone. The job of one of this node may be another's by now.
		if err == nil && (node != "" || j.Node == r.nodeDir.node) {
			r.sweeper.Add(m)
		}
	}
}
