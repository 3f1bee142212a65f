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

// dispatch gives each free worker a job, until ctx ends. Their turns go on until
// serving does.
func (r *Runner) dispatch(ctx, serving context.Context) {
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
		r.start(serving, t)
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
		t, err := r.store.Claim(context.WithoutCancel(ctx), p, store.Worker{Node: r.nodeDir.node, Simulates: r.opts.Simulate}, batchFirst)
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
	case <-time.After(pollInterval):
	}
	if err := r.store.Prepare(ctx); err == nil { // the queues may be gone with the store
		r.ready.addAll()
	}
	r.ready.add(p)
}
