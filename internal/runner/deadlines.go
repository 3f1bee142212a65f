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
			next, err := r.store.FireDue(ctx, p)
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
