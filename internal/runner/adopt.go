package runner

import (
	"context"

	"ringback/internal/job"
	"ringback/internal/process"
	"ringback/internal/store"
)

// reconcile compares what the store says this node runs with what it does run.
// A turn that we do not know was left by an earlier start of this node: its
// process is adopted if it lives, else Claude is rung again. first is set before
// this start has taken any job.
func (r *Runner) reconcile(ctx context.Context, first bool) {
	held, err := r.store.HeldBy(ctx, r.slot.node)
	if err != nil {
		return
	}
	known, unknown := map[job.ID]bool{}, map[store.Held]bool{}
	for _, h := range held {
		known[h.ID] = true
		switch {
		case r.has(h.ID):
		case first || r.suspects[h]:
			r.settle(ctx, h)
		default: // it may be about to start: look again next time
			unknown[h] = true
		}
	}
	r.suspects = unknown
	r.removeLeftovers(known)
}

func (r *Runner) has(id job.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running[id] != nil
}

// settle adopts the process of a turn, or books that it is gone.
func (r *Runner) settle(ctx context.Context, h store.Held) {
	j, err := r.store.Get(ctx, h.ID)
	if err != nil {
		return
	}
	proc, err := process.Adopt(r.slot.turnFiles(h.ID, h.Turn), marker(h.ID, h.Turn))
	if err != nil {
		r.log.Error("looking for a process left behind", "requestId", h.ID, "error", err)
	}
	if proc == nil && r.settleChange(ctx, j) {
		return
	}
	if proc == nil {
		r.sweeper.Add(marker(h.ID, h.Turn))
		r.log.Warn("a turn lost its process", "requestId", h.ID, "turn", h.Turn)
		left := newOutput(r.store, j, r.slot.turnFiles(h.ID, h.Turn), r.secrets).finish()
		r.endTurn(store.TurnEnd{
			ID: h.ID, Turn: h.Turn, Node: r.slot.node, Usage: left.Usage, Begun: left.Begun, Again: true, Note: store.Note{Reason: store.Lost},
			Code: job.CodeCrashed, Message: "Claude was lost with its server, again and again.",
		})
		return
	}
	r.log.Info("adopted a turn", "requestId", h.ID, "turn", h.Turn, "pid", proc.PID)
	t := r.track(j)
	t.change, _ = r.changeOf(j) // a kind that is gone has none
	t.runs(proc)
	if j.Phase == job.Preparing { // its server died before it could say that Claude has begun
		t.phase(ctx, job.AtWork)
	}
	t.check() // the job may have ended while nobody listened
	r.turns.Go(func() {
		select {
		case <-r.free: // it takes up a worker, though there may be none left
			defer func() { r.free <- struct{}{} }()
		default:
		}
		t.supervise()
	})
}
