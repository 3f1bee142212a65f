package runner

import (
	"context"
	"time"

	"ringback/internal/rules/lifecycle"
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
		for r.Problem() != nil { // until then, other nodes take the jobs
			if !pause(ctx, r, time.After(recheckInterval)) {
				return nil, false
			}
		}
		if !r.queue.Some() {
			if !pause(ctx, r, r.queue.Wake()) {
				return nil, false
			}
			continue
		}
		wait, isTry := r.rateLimitWait(ctx)
		t, err := r.claim(ctx, wait > 0, isTry)
		switch {
		case t != nil:
			return t, true
		case err != nil:
			if !r.retryLater(ctx, err) {
				return nil, false
			}
		case wait > 0:
			timer := r.queue.WakeIn(wait)
			ok := pause(ctx, r, r.queue.Wake())
			timer.Stop()
			if !ok {
				return nil, false
			}
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

// claim takes the next job and starts its turn. t is nil if no job waits, or if it is not to
// be run now. While Claude is rate-limited, only turns that do not call Claude are started. isTry is set if the
// turn is to probe whether the limit has ended.
func (r *Runner) claim(ctx context.Context, limited, isTry bool) (t *lifecycle.Turn, err error) {
	// All that reads files comes before the lock and the take: a file system may hang.
	account := r.rateLimits.account()
	worker := lifecycle.Worker{
		Node: r.nodeDir.node, Simulates: r.opts.Simulate, Proxies: r.proxies(), CLIVersion: r.cli.knownVersion(),
	}
	r.taking.RLock()
	defer r.taking.RUnlock()
	whole := context.WithoutCancel(ctx) // a turn that was taken is started, even while the server stops
	if err := r.becomeAlive(whole); err != nil {
		return nil, err
	}
	var taken lifecycle.QueueEntry
	var some bool
	if limited {
		taken, some, err = r.store.Queue.DequeueUnlimited(whole, r.nodeDir.node)
	} else {
		taken, some, err = r.store.Queue.Dequeue(whole, r.queue, r.nodeDir.node)
	}
	if err != nil || !some {
		return nil, err
	}
	if r.left.Remove(taken.JobID) {
		r.queue.Hold(store.PartitionOf(taken.JobID), leaveTime)
		return nil, r.jobs.PutBack(whole, taken)
	}
	if isTry {
		if ok, err := r.tryRateLimit(whole, taken.JobID); err != nil { // the entry is put back at the next heartbeat
			return nil, err
		} else if !ok {
			return nil, r.jobs.PutBack(whole, taken)
		}
	}
	begun := time.Now()
	err = r.withStore(ctx, taken.JobID, func() (err error) { // if ctx ends, the next start puts it back
		t, err = r.jobs.StartTurn(whole, worker, taken)
		return err
	})
	if t == nil || t.Job.Simulated {
		r.stopProbe(taken.JobID)
	} else {
		r.uses.change(taken.JobID, func(u *apiUse) { u.account, u.begun = account, begun })
	}
	return t, err
}

// leaveTime is the time that other nodes have to take a job after its turn did not start on this node.
const leaveTime = 300 * time.Millisecond

// retryLater waits until the store may be available. It returns false if ctx has ended.
func (r *Runner) retryLater(ctx context.Context, why error) bool {
	r.doubtful.Store(true)
	if ctx.Err() == nil {
		r.log.Error("could not take a job", "error", why)
	}
	if !pause(ctx, r, time.After(pollInterval)) {
		return false
	}
	if err := r.store.Prepare(ctx); err == nil { // a restarted store may have lost the queues
		r.queue.Available()
	}
	return true
}

// slot is the worker of a turn, if it has one.
type slot struct {
	r    *Runner
	held bool
}

func (s *slot) release() {
	if s.held {
		s.held = false
		s.r.free <- struct{}{}
	}
}

// lend releases the worker during slow work of the server that runs no Claude, such as cloning,
// verifying or publishing. The turn keeps its worker if enough others have lent theirs.
func (s *slot) lend(do func() error) error {
	select {
	case s.r.lent <- struct{}{}:
		defer func() { <-s.r.lent }()
		s.release()
	default:
	}
	return do()
}

func (s *slot) acquire(ctx context.Context) error {
	if s.held {
		return nil
	}
	select {
	case <-s.r.free:
		s.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
