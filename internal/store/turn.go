package store

import (
	"context"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// Take takes the next job of a partition for a node; ok is false if no job waits.
func (s *Store) Take(ctx context.Context, p Partition, node string) (taken lifecycle.QueueEntry, ok bool, err error) {
	args := []any{node, int64(levelWidth)}
	for _, level := range levels {
		args = append(args, level.priority, level.round())
	}
	answer, err := s.run(ctx, s.scripts.take, p, args...)
	if err != nil {
		return lifecycle.QueueEntry{}, false, err
	}
	parts := texts(answer)
	if len(parts) < 4 {
		return lifecycle.QueueEntry{}, false, nil
	}
	return lifecycle.QueueEntry{JobID: job.ID(parts[0]), Priority: job.Priority(parts[1]), Entry: parts[2], Users: atoi(parts[3])}, true, nil
}
