package runner

import (
	"context"
	"strings"
	"time"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/process"
	"ringback/internal/review"
	"ringback/internal/store"
)

// reconcile makes up for what was missed, with a heartbeat after a doubt and else now and
// then: wake-ups, turns that the store thinks we have, files of jobs that are gone. It
// ends with ctx: a node that takes no new turns adopts none either.
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
			r.ready.addAll()
			r.reconcileTurns(ctx, serving, false)
		}
		if n%reconcileEvery == 0 {
			r.removeForgotten(ctx)
		}
	}
}

// reconcileEvery is after how many heartbeats a node looks without a doubt.
const reconcileEvery = 12

// reconcileTurns compares what the store says this node runs with what it does run. A
// turn that we do not know was left by an earlier start of this node, see adoptOrFail.
// first is set before this start has taken any job: later, a turn that is not known
// may just be about to start, so it is looked at once more with the next heartbeat.
func (r *Runner) reconcileTurns(ctx, serving context.Context, first bool) {
	held, ok := r.storedTurns(ctx)
	if !ok {
		return
	}
	known, unknown := map[job.ID]bool{}, map[store.OwnedTurn]bool{}
	for _, h := range held {
		known[h.ID] = true
		switch {
		case r.ownedTurnOf(h.ID) != nil:
		case first || r.unknownTurns[h]:
			r.adoptOrFail(ctx, serving, h)
		default:
			unknown[h] = true
			r.doubtful.Store(true)
		}
	}
	r.unknownTurns = unknown
	r.removeLeftovers(known)
	if first {
		r.sweepStrays(ctx, known)
	}
}

// storedTurns returns the turns that the store says are ours. Entries of which no turn was
// started, because the store was away or an earlier start of this node died just then,
// are put back. No turn is being started meanwhile.
func (r *Runner) storedTurns(ctx context.Context) ([]store.OwnedTurn, bool) {
	r.taking.Lock()
	defer r.taking.Unlock()
	held, unstarted, err := r.store.OwnedBy(ctx, r.nodeDir.node)
	if err != nil {
		r.doubtful.Store(true)
		return nil, false
	}
	for _, taken := range unstarted {
		if err := r.jobs.PutBack(ctx, taken); err != nil {
			r.log.Error("putting a queue entry back", "requestId", taken.JobID, "error", err)
		}
	}
	return held, true
}

// adoptOrFail goes on with a turn that an earlier start has left: it adopts Claude's
// process; where that has delivered a change, or was not needed, it does the step that
// is left; else it books that the process is gone, so that Claude is started again.
func (r *Runner) adoptOrFail(ctx, serving context.Context, h store.OwnedTurn) {
	j, err := r.store.Get(ctx, h.ID)
	if err != nil {
		return
	}
	answers, err := r.store.Answers(ctx, h.ID)
	if err != nil {
		return
	}
	change, err := r.changeOf(j) // of a version that cannot be read there is none
	if job.HasKind(err, job.Unavailable) {
		return
	}
	proc, err := process.Adopt(r.nodeDir.turnFiles(h.ID, h.Turn), marker(h.ID, h.Turn), r.doorsOf(j)...)
	if err != nil {
		r.log.Error("adopting a process left behind", "requestId", h.ID, "error", err)
	}
	if proc != nil {
		r.adopt(serving, j, change, proc)
		return
	}
	r.sweeper.Add(marker(h.ID, h.Turn))
	printed := r.newOutput(j, r.nodeDir.turnFiles(h.ID, h.Turn)).adopt().finish(r.opts.OutputLimit)
	if printed.Begun {
		r.keepConversation(serving, j)
	}
	end := lifecycle.TurnEnd{
		ID: h.ID, Turn: h.Turn, Node: r.nodeDir.node, Usage: r.reported(j, printed.Usage), Begun: printed.Begun, Spoken: printed.Begun, Again: true, ResumeReason: lifecycle.ResumeReason{Reason: lifecycle.Lost},
	}
	if turn, ok := r.booked.Get(h.ID); ok && turn == h.Turn {
		r.log.Warn("the store has lost the end of a turn", "requestId", h.ID, "turn", h.Turn)
		end.Undone = true
	}
	if step := change.Next(answers); step != nil {
		// Nothing of this is Claude's: the conversation stands, whatever is left of its output.
		end.Begun = true
		r.turns.Go(func() { r.runStep(serving, j, change, step, end, &place{r: r}) })
		return
	}
	r.log.Warn("a turn lost its process", "requestId", h.ID, "turn", h.Turn)
	end.Code, end.Message = job.CodeCrashed, "Claude was lost with its server, again and again."
	code, message := claude.Explain(claude.Exit{Last: printed.Last})
	code, message, resetsAt := r.confirm(j.ID, code, message, printed.ResetsAt)
	if code.IsLimit() && !j.Simulated {
		end.Code, end.Message = code, string(mask([]byte(message), r.secrets))
		end.Limit = r.reach(serving, j.ID, end.Code, end.Message, resetsAt)
	}
	r.endTurn(serving, end)
}

// adopt supervises a process that an earlier start has left.
func (r *Runner) adopt(serving context.Context, j job.Job, change *review.Change, proc *process.Process) {
	ctx, t := r.own(serving, j, change, nil)
	if change != nil && j.Phase == job.Preparing { // the store was away when Claude began
		change.ShowPhase(ctx, job.AtWork)
	}
	t.check() // the job may have ended, or gone on, while nobody listened
	r.turns.Go(func() {
		defer t.disown()
		worker := &place{r: r}
		defer worker.release()
		select {
		case <-r.free: // there may be none left
			worker.held = true
		default:
		}
		adopted := t.with(proc, worker)
		adopted.out.adopt()
		r.log.Info("adopted a turn", "requestId", j.ID, "turn", j.Turn, "pid", proc.PID)
		adopted.supervise(serving, ctx)
	})
}

// sweepStrays ends what fled from the process groups of turns that this node ran last
// and does not hold any more: their server may have died before it was swept.
func (r *Runner) sweepStrays(ctx context.Context, held map[job.ID]bool) {
	found := map[string]bool{}
	process.Marked(func(marker string) bool {
		found[marker] = true
		return false
	})
	for m := range found {
		id, _, isTurn := strings.Cut(m, "/")
		if !isTurn || held[job.ID(id)] {
			continue
		}
		// Another node's, or another store's, are none of ours.
		if j, err := r.store.Get(ctx, job.ID(id)); err == nil && j.Node == r.nodeDir.node {
			r.sweeper.Add(m)
		}
	}
}
