package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// ShowQueue sets Queue for jobs that wait for a worker. The cost is logarithmic for each job, and
// one round trip for all.
func (s *Store) ShowQueue(ctx context.Context, jobs []*job.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	pipe := s.rdb.Pipeline()
	ranks, scores := make([]*redis.IntCmd, len(jobs)), make([]*redis.FloatCmd, len(jobs))
	for i, j := range jobs {
		line := PartitionOf(j.ID).key("line", j.UserID)
		ranks[i], scores[i] = pipe.ZRank(ctx, line, string(j.ID)), pipe.ZScore(ctx, line, string(j.ID))
	}
	var waiting [len(levels)][Partitions]*redis.IntCmd
	for n, l := range levels {
		for p := range Partition(Partitions) {
			waiting[n][p] = pipe.ZCard(ctx, p.key("round", l.round()))
		}
	}
	if _, err := pipe.Exec(ctx); ignoreNil(err) != nil {
		return storeError(err)
	}
	for i, j := range jobs {
		if scores[i].Err() != nil { // it has been taken
			continue
		}
		place := job.QueuePlace{OwnJobs: ranks[i].Val()}
		for _, users := range waiting[int(scores[i].Val()/levelWidth)] {
			place.OtherUsers += users.Val()
		}
		place.OtherUsers = max(0, place.OtherUsers-1)
		j.Queue = &place
	}
	return nil
}
