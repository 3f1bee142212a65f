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
func (r *Runner) fireDeadlines(ctx context.Context) { r.clocks.Run(ctx, r.fireDue) }

// fireDue fires the due deadlines of a partition, and returns the time until the next
// one; negative if none is set.
func (r *Runner) fireDue(ctx context.Context, p store.Partition) (time.Duration, error) {
	due, lost, next, err := r.store.Due(ctx, p)
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		if err := r.jobs.Fire(ctx, d); err != nil {
			return 0, err // the rest is due again when its lease expires
		}
	}
	for _, run := range lost {
		if err := r.jobs.LoseAction(ctx, run.Run, run.Of); err != nil {
			return 0, err
		}
	}
	return next, nil
}
