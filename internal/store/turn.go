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
	answer, err := s.run(ctx, s.scripts.take, p, node, string(first), string(second), toMillis(s.opts.NodeTimeout))
	if err != nil {
		return lifecycle.Taken{}, false, err
	}
	parts := stringsOf(answer)
	if len(parts) < 3 {
		return lifecycle.Taken{}, false, nil
	}
	return lifecycle.Taken{JobID: job.ID(parts[0]), Priority: job.Priority(parts[1]), Entry: parts[2]}, true, nil
}

// Lost lists the queue entries of a partition that are those of lost nodes.
func (s *Store) Lost(ctx context.Context, p Partition) ([]lifecycle.Taken, error) {
	var lost []lifecycle.Taken
	for _, priority := range []job.Priority{job.Interactive, job.Batch} {
		answer, err := s.run(ctx, s.scripts.lost, p, string(priority))
		if err != nil {
			return lost, err
		}
		parts := stringsOf(answer)
		for i := 0; i+1 < len(parts); i += 2 {
			lost = append(lost, lifecycle.Taken{JobID: job.ID(parts[i]), Priority: priority, Entry: parts[i+1]})
		}
	}
	return lost, nil
}

func stringsOf(answer any) []string {
	list, _ := answer.([]any)
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i], _ = v.(string)
	}
	return texts
}
