package store

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// crowd runs a script that is called often. If many calls run at once, they share a pipeline, which
// saves most of the system calls, here and in Redis. Otherwise a call is sent at once.
type crowd struct {
	direct, shared caller
	script         *redis.Script
	keys           *[Partitions][]string
	// heads contains what each partition's calls begin with. It is made only once, because each value
	// in it is an allocation.
	heads   [Partitions][]any
	running atomic.Int64
}

// caller is a client that sends commands.
type caller interface {
	redis.Scripter
	Process(ctx context.Context, command redis.Cmder) error
}

// crowded is the number of concurrent calls from which on calls share a pipeline.
const crowded = 8

func newCrowd(rdb redis.UniversalClient, script *redis.Script, keys *[Partitions][]string) (*crowd, error) {
	shared, err := rdb.AutoPipeline()
	c := &crowd{direct: rdb, shared: shared, script: script, keys: keys}
	for p := range keys {
		c.heads[p] = []any{"evalsha", script.Hash(), len(keys[p])}
		for _, key := range keys[p] {
			c.heads[p] = append(c.heads[p], key)
		}
	}
	return c, err
}

// firstKey is the index of the first key among the words of EVALSHA.
const firstKey = 3

func (c *crowd) run(ctx context.Context, p Partition, args ...any) (any, error) {
	client := c.direct
	if c.running.Add(1) >= crowded {
		client = c.shared
	}
	defer c.running.Add(-1)
	head := c.heads[p]
	command := redis.NewCmd(ctx, append(slices.Clip(head), args...)...)
	command.SetFirstKeyPos(firstKey)
	_ = client.Process(ctx, command) // Result returns its error, too
	answer, err := command.Result()
	if err != nil && errorCode(err) == "NOSCRIPT" {
		answer, err = c.script.Eval(ctx, client, c.keys[p], command.Args()[len(head):]...).Result()
	}
	return answer, err
}
