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

// beat gives a sign of life, and takes over what silent nodes have left.
func (r *Runner) beat(ctx context.Context) {
	silent, err := r.store.Heartbeat(ctx, r.nodeDir.node)
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
			}
		}
	}
}
