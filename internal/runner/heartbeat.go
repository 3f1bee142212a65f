package runner

import (
	"context"
	"time"

	"ringback/internal/store"
)

// keepAlive says that this node lives, as long as it has turns, and has the turns of
// nodes that are silent queued again. With each heartbeat it compares its own turns with
// the store, in case an event was missed.
func (r *Runner) keepAlive(serving context.Context) {
	ticker := time.NewTicker(r.opts.Heartbeat)
	defer ticker.Stop()
	for {
		if err := r.store.Heartbeat(serving, r.nodeDir.node); err != nil && serving.Err() == nil {
			r.log.Warn("the heartbeat did not reach the store", "error", err)
		}
		r.recoverLost(serving)
		select {
		case <-serving.Done():
			return
		case <-ticker.C:
			r.checkAll()
		}
	}
}

func (r *Runner) recoverLost(ctx context.Context) {
	for p := range store.Partition(store.Partitions) {
		lost, err := r.store.Lost(ctx, p)
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
