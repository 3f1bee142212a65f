package store

import (
	"context"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// Take takes the next entry of a partition's queues for a node; ok is false when nothing
// waits. Batch jobs are looked at first when batchFirst is set.
func (s *Store) Take(ctx context.Context, p Partition, node string, batchFirst bool) (taken lifecycle.Taken, ok bool, err error) {
	first, second := job.Interactive, job.Batch
	if batchFirst {
		first, second = second, first
	}
	answer, err := s.run(ctx, s.scripts.take, p, node, string(first), string(second))
	if err != nil {
		return lifecycle.Taken{}, false, err
	}
	parts := stringsOf(answer)
	if len(parts) < 3 {
		return lifecycle.Taken{}, false, nil
	}
	return lifecycle.Taken{JobID: job.ID(parts[0]), Priority: job.Priority(parts[1]), Entry: parts[2]}, true, nil
}

func stringsOf(answer any) []string {
	list, _ := answer.([]any)
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i], _ = v.(string)
	}
	return texts
}
