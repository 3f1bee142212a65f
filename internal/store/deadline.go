package store

import (
	"context"
	"time"
)

// FireDue fires every deadline of a partition that has passed. It returns how
// long until the next one; a negative duration when none is set. Any number of
// nodes may call it: each deadline fires once.
func (s *Store) FireDue(ctx context.Context, p Partition) (time.Duration, error) {
	answer, err := s.run(ctx, s.scripts.due, p, toMillis(s.opts.QueueTimeout))
	if err != nil {
		return 0, err
	}
	return time.Duration(answer.(int64)) * time.Millisecond, nil
}
