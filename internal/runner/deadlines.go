package runner

import (
	"context"
	"time"

	"ringback/internal/store"
)

// nudge tells that a deadline may have come closer.
func (r *Runner) nudge() {
	select {
	case r.due <- struct{}{}:
	default:
	}
}

// fireDeadlines fires what is due, on time for deadlines known here and within
// a second for those that another node has set.
func (r *Runner) fireDeadlines(ctx context.Context) {
	for {
		wait := time.Second
		for p := range store.Partition(store.Partitions) {
			next, err := r.fireDue(ctx, p)
			if err != nil {
				break // the store is away: deadlines keep in it
			}
			if next >= 0 {
				wait = min(wait, next+time.Millisecond)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-r.due:
		case <-time.After(wait):
		}
	}
}

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
