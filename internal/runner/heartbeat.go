package runner

import (
	"context"
	"time"
)

// keepAlive says that this node lives, as long as it has turns, and has the turns of
// nodes that are silent queued again. With each heartbeat it compares its own turns with
// the store, in case an event was missed.
func (r *Runner) keepAlive(serving context.Context) {
	ticker := time.NewTicker(r.opts.Heartbeat)
	defer ticker.Stop()
	for {
		r.beat(serving)
		select {
		case <-serving.Done():
			return
		case <-ticker.C:
			r.checkAll()
			r.keepTrying(serving)
		}
	}
}

// signal gives a sign of life, and returns the nodes that have not for too long.
func (r *Runner) signal(ctx context.Context) ([]string, error) {
	begun := time.Now()
	silent, err := r.store.Heartbeat(ctx, r.nodeDir.node, r.limits.account())
	if err == nil {
		r.signalled.Store(&begun)
	}
	return silent, err
}

// becomeAlive gives a sign of life where the last may not count any more, since the node
// was paused: what it took now would be missed by nobody if it died before the next.
func (r *Runner) becomeAlive(ctx context.Context) error {
	if last := r.signalled.Load(); last != nil && time.Since(*last) < 2*r.opts.Heartbeat {
		return nil
	}
	_, err := r.signal(ctx)
	return err
}

// farewell is the last sign of life: whoever is to take over what is left here, if no
// further start does, must not have forgotten this node.
func (r *Runner) farewell() {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if _, err := r.signal(ctx); err != nil {
		r.log.Warn("the last heartbeat did not reach the store", "error", err)
	}
}

// beat gives a sign of life, and takes over what silent nodes have left.
func (r *Runner) beat(ctx context.Context) {
	silent, err := r.signal(ctx)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("the heartbeat did not reach the store", "error", err)
	}
	for _, node := range silent {
		lost, err := r.store.Lost(ctx, node)
		if err != nil {
			return
		}
		for _, taken := range lost {
			if found, err := r.jobs.LoseNode(ctx, taken); err == nil && found {
				r.log.Warn("took over a job from a lost node", "requestId", taken.JobID)
				r.takeOverTry(ctx, taken.JobID)
			}
		}
	}
}
