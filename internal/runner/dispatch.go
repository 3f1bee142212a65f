package runner

import (
	"context"
	"time"

	"ringback/internal/job"
	"ringback/internal/store"
)

// batchEvery is how often batch jobs are looked at first, so that a steady
// stream of interactive ones does not starve them.
const batchEvery = 8

// dispatch gives each free worker a job, until ctx ends.
func (r *Runner) dispatch(ctx context.Context) {
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-r.free:
		}
		t, ok := r.next(ctx, n%batchEvery == batchEvery-1)
		if !ok {
			return
		}
		if t.Job.Options.Simulate == job.SimulateManual {
			r.free <- struct{}{} // a person plays Claude, with curl
			continue
		}
		r.start(t)
	}
}

// next waits for a job; false when ctx has ended.
func (r *Runner) next(ctx context.Context, batchFirst bool) (*store.Turn, bool) {
	for {
		p, some := r.ready.take()
		if !some {
			select {
			case <-ctx.Done():
				return nil, false
			case <-r.ready.wake:
			}
			continue
		}
		t, err := r.store.Claim(context.WithoutCancel(ctx), p, store.Worker{Node: r.slot.node, Simulates: r.opts.Simulate}, batchFirst)
		switch {
		case ctx.Err() != nil && t == nil:
			return nil, false
		case err != nil:
			r.log.Error("taking a job", "error", err)
			r.retryLater(ctx, p)
		case t != nil:
			r.ready.add(p) // there may be more
			return t, true
		}
	}
}

// retryLater looks at a partition again once the store may be back.
func (r *Runner) retryLater(ctx context.Context, p store.Partition) {
	select {
	case <-ctx.Done():
	case <-time.After(500 * time.Millisecond):
	}
	if err := r.store.Prepare(ctx); err == nil { // the queues may be gone with the store
		r.ready.addAll()
	}
	r.ready.add(p)
}

func (r *Runner) nudge() {
	select {
	case r.due <- struct{}{}:
	default:
	}
}

// fireDeadlines fires what is due, on time for deadlines known here and within
// a second for those that another node has set.
func (r *Runner) fireDeadlines(ctx context.Context) {
	for {
		wait := time.Second
		for p := range store.Partition(store.Partitions) {
			next, err := r.store.FireDue(ctx, p)
			if err != nil {
				break // the store is away: deadlines keep in it
			}
			if next >= 0 {
				wait = min(wait, next+time.Millisecond)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-r.due:
		case <-time.After(wait):
		}
	}
}

// keepAlive tells the other nodes that this one lives, takes over the turns of
// those that do not, and settles turns the store thinks we have.
func (r *Runner) keepAlive(ctx context.Context) {
	ticker := time.NewTicker(r.opts.Heartbeat)
	defer ticker.Stop()
	for n := 0; ; n++ {
		if err := r.store.Heartbeat(ctx, r.slot.node); err != nil && ctx.Err() == nil {
			r.log.Warn("the heartbeat did not reach the store", "error", err)
		}
		r.recoverLost(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.ready.addAll() // in case a wake-up was lost
			r.each(func(t *turn) { t.check() })
			r.reconcile(ctx, false)
			if n%forgottenEvery == 0 {
				r.removeForgotten(ctx)
			}
		}
	}
}

// forgottenEvery is after how many heartbeats files of forgotten jobs are looked for.
const forgottenEvery = 12

func (r *Runner) recoverLost(ctx context.Context) {
	for p := range store.Partition(store.Partitions) {
		ids, err := r.store.RecoverLost(ctx, p)
		if err != nil {
			return
		}
		for _, id := range ids {
			r.log.Warn("took over a job from a lost node", "requestId", id)
		}
	}
}
