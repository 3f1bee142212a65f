package runner

import (
	"context"
	"time"

	"ringback/internal/store"
)

// Clock looks for what is due in a partition.
func (r *Runner) Clock(p store.Partition) { r.clocks.Now(p) }

// fireDeadlines fires what is due, whichever node has set it: each hears of a clock that
// is the next to run down.
func (r *Runner) fireDeadlines(ctx context.Context) { r.clocks.Run(ctx, r.fireDue) }

// fireDue fires what is due in a partition, and returns how long until more is; negative
// where nothing is set.
func (r *Runner) fireDue(ctx context.Context, p store.Partition) (time.Duration, error) {
	due, lost, next, err := r.store.Due(ctx, p)
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		if err := r.jobs.Fire(ctx, d); err != nil {
			return 0, err // what is left is due again after its lease
		}
	}
	for _, run := range lost {
		if err := r.jobs.LoseAction(ctx, run.Run, run.Of); err != nil {
			return 0, err
		}
	}
	return next, nil
}
