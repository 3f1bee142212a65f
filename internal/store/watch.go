package store

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Errors returns how many calls of this node failed because the store was unavailable.
func (s *Store) Errors() int64 { return s.errors.Load() }

// errorCount is a hook of the Redis client that counts failed calls.
type errorCount struct{ n *atomic.Int64 }

func (c errorCount) see(err error) {
	if job.HasKind(storeError(err), job.Unavailable) {
		c.n.Add(1)
	}
}

// DialHook implements redis.Hook. It counts nothing: the call that needs the connection fails, too.
func (errorCount) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (c errorCount) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		c.see(err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (c errorCount) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		err := next(ctx, commands)
		c.see(err)
		return err
	}
}

// OldestQueued returns how long the oldest job of each priority has waited for a worker; 0 if none
// waits.
func (s *Store) OldestQueued(ctx context.Context) (map[job.Priority]time.Duration, error) {
	oldest := map[job.Priority]time.Duration{}
	for _, priority := range []job.Priority{job.Interactive, job.Batch} {
		firsts, err := readEach(ctx, s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.ZSliceCmd {
			return pipe.ZRangeWithScores(ctx, p.key("queued", string(priority)), 0, 0)
		})
		if err != nil {
			return nil, err
		}
		for _, first := range slices.Concat(firsts...) {
			oldest[priority] = max(oldest[priority], s.clock.now().Sub(scoreTime(first.Score)))
		}
	}
	return oldest, nil
}
