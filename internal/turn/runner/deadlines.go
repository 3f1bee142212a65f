package runner

import (
	"context"
	"time"

	"ringback/internal/store"
)

// Clock checks a partition for due deadlines.
func (r *Runner) Clock(p store.Partition) { r.clocks.Now(p) }

// fireDeadlines fires deadlines when they are due, regardless of which node set them:
// every node is notified of the earliest one.
func (r *Runner) fireDeadlines(ctx context.Context) {
	r.clocks.Run(ctx, func(ctx context.Context, p store.Partition) (time.Duration, error) {
		return r.store.FireDue(ctx, p, r.jobs)
	})
}
