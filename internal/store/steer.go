package store

import (
	"context"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// queuedPrompts returns the steers that wait for the turn to end, oldest first.
func (s *Store) queuedPrompts(ctx context.Context, p Partition, id job.ID) ([]string, error) {
	texts, err := s.rdb.LRange(ctx, p.key("steers", string(id)), 0, -1).Result()
	if err != nil {
		return nil, storeError(err)
	}
	steers, err := unmarshalAll[lifecycle.QueuedSteer](texts)
	var prompts []string
	for _, steer := range steers {
		prompts = append(prompts, steer.Reply.Reason)
	}
	return prompts, err
}
