package runner

import (
	"context"
	"time"

	"ringback/internal/store"
)

// keepAlive tells the other nodes that this one lives, and has the jobs of those that
// do not queued again. With each heartbeat it makes up for what was missed: wake-ups,
// ends of jobs, turns that the store thinks we have.
func (r *Runner) keepAlive(ctx, serving context.Context) {
	ticker := time.NewTicker(r.opts.Heartbeat)
	defer ticker.Stop()
	for n := 0; ; n++ {
		if err := r.store.Heartbeat(ctx, r.nodeDir.node); err != nil && ctx.Err() == nil {
			r.log.Warn("the heartbeat did not reach the store", "error", err)
		}
		r.recoverLost(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.ready.addAll() // in case a wake-up was lost
			r.checkAll()
			r.reconcile(ctx, serving, false)
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
