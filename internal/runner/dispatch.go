package runner

import (
	"context"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
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
		if t.Manual {
			r.free <- struct{}{}
			continue
		}
		r.start(serving, t)
	}
}

// next waits for a job; false when ctx has ended.
func (r *Runner) next(ctx context.Context, batchFirst bool) (*lifecycle.Turn, bool) {
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
		t, more, err := r.take(ctx, p, batchFirst, r.awaitLimit(ctx))
		switch {
		case ctx.Err() != nil && t == nil:
			return nil, false
		case err != nil:
			r.doubtful.Store(true)
			r.log.Error("taking a job", "error", err)
			r.retryLater(ctx, p)
		case more:
			r.ready.add(p)
		}
		if t != nil {
			return t, true
		}
	}
}

// take takes the next entry of a partition's queues and starts its turn; nil where the
// entry's job is not to run now. more is whether there may be further entries. isTry is
// whether its turn is to try if a limit of Claude's has ended.
func (r *Runner) take(ctx context.Context, p store.Partition, batchFirst, isTry bool) (t *lifecycle.Turn, more bool, err error) {
	r.taking.RLock()
	defer r.taking.RUnlock()
	whole := context.WithoutCancel(ctx) // what was taken is started, also while the server stops
	if err := r.becomeAlive(whole); err != nil {
		return nil, false, err
	}
	taken, more, err := r.store.Take(whole, p, r.nodeDir.node, batchFirst)
	if err != nil || !more {
		return nil, false, err
	}
	if isTry {
		if ok, err := r.tryLimit(whole, taken.JobID); err != nil { // the entry is put back with the next heartbeat
			return nil, true, err
		} else if !ok {
			return nil, true, r.jobs.PutBack(whole, taken)
		}
	}
	r.limits.begin(taken.JobID, r.limits.account())
	t, err = r.startTurn(whole, taken)
	for isKind(err, job.Unavailable) && ctx.Err() == nil { // else the next start puts it back
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
			t, err = r.startTurn(whole, taken)
		}
	}
	if t == nil || t.Job.Simulated {
		r.stopTrying(taken.JobID)
		r.limits.end(taken.JobID)
	}
	return t, true, err
}

func (r *Runner) startTurn(ctx context.Context, taken lifecycle.Taken) (*lifecycle.Turn, error) {
	return r.jobs.StartTurn(ctx, lifecycle.Worker{Node: r.nodeDir.node, Simulates: r.opts.Simulate}, taken)
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
