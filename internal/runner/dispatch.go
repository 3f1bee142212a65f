package runner

import (
	"context"
	"time"

	"ringback/internal/lifecycle"
	"ringback/internal/store"
)

// dispatch gives each free worker a job until ctx ends. The turns continue until
// serving ends.
func (r *Runner) dispatch(ctx, serving context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.free:
		}
		t, ok := r.next(ctx)
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

// next waits for a job while holding a worker. It returns false, without a worker, if ctx ends.
func (r *Runner) next(ctx context.Context) (*lifecycle.Turn, bool) {
	for {
		if !r.awaitAbility(ctx) {
			return nil, false
		}
		p, some := r.ready.poll()
		if !some {
			if !pause(ctx, r, r.ready.wake) {
				return nil, false
			}
			continue
		}
		isTry, ok := r.awaitRateLimit(ctx)
		if !ok {
			return nil, false
		}
		t, users, err := r.claim(ctx, p, isTry)
		if users > 0 {
			r.ready.again(p, users)
		}
		if t != nil {
			return t, true
		}
		if err != nil && !r.retryLater(ctx, p, err) {
			return nil, false
		}
	}
}

// pause releases the worker that dispatch holds until a value arrives from a channel, so that turns that
// have lent theirs can continue. It returns false, without a worker, if ctx ends.
func pause[T any](ctx context.Context, r *Runner, until <-chan T) bool {
	r.free <- struct{}{}
	select {
	case <-ctx.Done():
		return false
	case <-until:
	}
	select {
	case <-ctx.Done():
		return false
	case <-r.free:
		return true
	}
}

// claim takes the next job of a partition's queue and starts its turn. t is nil if the
// entry's job is not to be run now. users is the number of users with jobs there; 0 if
// no job is left. isTry is set if the turn is to probe whether Claude's rate limit has
// ended.
func (r *Runner) claim(ctx context.Context, p store.Partition, isTry bool) (t *lifecycle.Turn, users int, err error) {
	r.taking.RLock()
	defer r.taking.RUnlock()
	whole := context.WithoutCancel(ctx) // a turn that was taken is started, even while the server stops
	if err := r.becomeAlive(whole); err != nil {
		return nil, 0, err
	}
	taken, some, err := r.store.Dequeue(whole, p, r.nodeDir.node)
	if err != nil || !some {
		return nil, 0, err
	}
	users = taken.Users
	if r.left.Remove(taken.JobID) {
		if users == 0 { // no other user waits there
			r.ready.holdBack(p, leaveTime)
		}
		return nil, users, r.jobs.PutBack(whole, taken)
	}
	if isTry {
		if ok, err := r.tryRateLimit(whole, taken.JobID); err != nil { // the entry is put back at the next heartbeat
			return nil, users, err
		} else if !ok {
			return nil, users, r.jobs.PutBack(whole, taken)
		}
	}
	account := r.rateLimits.account()
	worker := lifecycle.Worker{
		Node: r.nodeDir.node, Simulates: r.opts.Simulate, Proxies: r.proxies(), CLIVersion: r.cli.knownVersion(),
	}
	err = r.withStore(ctx, taken.JobID, func() (err error) { // if ctx ends, the next start puts it back
		t, err = r.jobs.StartTurn(whole, worker, taken)
		return err
	})
	if t == nil || t.Job.Simulated {
		r.stopProbe(taken.JobID)
	} else {
		r.uses.change(taken.JobID, func(u *apiUse) { u.account = account })
	}
	return t, users, err
}

// leaveTime is the time that other nodes have to take a job after its turn did not start on this node.
const leaveTime = 300 * time.Millisecond

// retryLater polls a partition again once the store may be available. It returns false if ctx has ended.
func (r *Runner) retryLater(ctx context.Context, p store.Partition, why error) bool {
	r.doubtful.Store(true)
	r.ready.add(p)
	if ctx.Err() == nil {
		r.log.Error("taking a job", "error", why)
	}
	if !pause(ctx, r, time.After(pollInterval)) {
		return false
	}
	if err := r.store.Prepare(ctx); err == nil { // a restarted store may have lost the queues
		r.ready.addAll()
	}
	return true
}
