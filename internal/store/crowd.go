package store

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// crowd runs scripts that are called often. If many calls run at once, they share a pipeline, which
// saves most of the system calls, here and in Redis. Otherwise a call is sent at once.
type crowd struct {
	direct, shared redis.Scripter
	running        *atomic.Int64
}

// crowded is the number of concurrent calls from which on calls share a pipeline.
const crowded = 8

func newCrowd(rdb redis.UniversalClient) (crowd, error) {
	shared, err := rdb.AutoPipeline()
	return crowd{rdb, shared, new(atomic.Int64)}, err
}

func (c crowd) run(ctx context.Context, script *redis.Script, keys []string, args []any) (any, error) {
	client := c.direct
	if c.running.Add(1) >= crowded {
		client = c.shared
	}
	defer c.running.Add(-1)
	answer, err := script.Run(ctx, client, keys, args...).Result()
	return answer, storeError(err)
}
