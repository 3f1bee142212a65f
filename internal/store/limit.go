package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// limitsIn is the partition with the limits of all accounts, and with other data across all users.
const limitsIn = Partition(0)

// limitFields are the fields of a limit of an account.
var limitFields, _ = fieldsOf[lifecycle.AccountLimit]()

// limitLife is the time for which a limit is kept without a further try.
const limitLife = 24 * time.Hour

// Update reads the limit of an account, changes it by a rule, and writes the difference. If it has changed in
// between, it starts again.
func (ls Limits) Update(ctx context.Context, account string, change func(*lifecycle.AccountLimit)) error {
	key := limitsIn.key("limit", account)
	for range maxLoads {
		pipe := ls.s.rdb.TxPipeline()
		read, at := pipe.HGetAll(ctx, key), ls.s.readTime(ctx, pipe, limitsIn)
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
		t, err := at()
		if errors.Is(err, errTorn) {
			continue
		}
		var l lifecycle.AccountLimit
		if err := cmp.Or(err, decodeValues(&l, limitFields, read.Val())); err != nil {
			return err
		}
		was := l
		l.Now, l.Grace = t.now, t.grace
		change(&l)
		set, remove := changes(was, l, limitFields)
		if len(set)+len(remove) == 0 {
			return nil
		}
		c := commit{prefix: limitsIn.prefix(), now: t.now}
		for _, f := range limitFields {
			c.is(key, f.name, read.Val()[f.name])
		}
		c.write(key, set, remove)
		c.do("PEXPIRE", key, toMillis(max(0, l.Until.Sub(t.now))+limitLife))
		if l.Until.IsZero() {
			c.do("SREM", limitsIn.key("limits"), account)
		} else {
			c.do("SADD", limitsIn.key("limits"), account)
		}
		if written, err := ls.s.runCommit(ctx, &c); written || err != nil {
			return err
		}
	}
	return job.Contended()
}

// End is AccountLimit.End. First, the jobs that wait for a limit try again: if this process dies in between,
// one of them ends the limit.
func (ls Limits) End(ctx context.Context, account string, id job.ID) (bool, error) {
	tries, err := ls.s.rdb.HGet(ctx, limitsIn.key("limit", account), "job").Result()
	if err != nil || tries != string(id) {
		return false, ignoreNil(err)
	}
	retryAll := func() error { return eachPartition(func(p Partition) error { return ls.s.retryLimited(ctx, p) }) }
	if err := retryAll(); err != nil {
		return false, err
	}
	ended := false
	if err = ls.Update(ctx, account, func(l *lifecycle.AccountLimit) { ended = l.End(id) }); err != nil || !ended {
		return false, err
	}
	return true, retryAll() // others may have begun to wait; from now on, RetryLimited finds out
}

// Retry makes the jobs of a job's partition due that wait for a limit if the account is at none: when
// EndRateLimit looked for them, the job may not have waited yet.
func (ls Limits) Retry(ctx context.Context, account string, id job.ID) error {
	isLimited := false
	err := ls.Update(ctx, account, func(l *lifecycle.AccountLimit) { isLimited = !l.Until.IsZero() })
	if err != nil || isLimited {
		return err
	}
	return ls.s.retryLimited(ctx, PartitionOf(id))
}

// retryLimited makes the jobs of a partition due that wait for a limit, whatever its stated end.
func (s *Store) retryLimited(ctx context.Context, p Partition) error {
	ids, err := s.rdb.ZRange(ctx, p.key("limited"), 0, -1).Result()
	for some := range slices.Chunk(ids, mostWords) {
		due := make([]redis.Z, len(some))
		for i, id := range some {
			due[i] = redis.Z{Score: float64(s.clock.now().UnixMilli()), Member: clockMember(lifecycle.RetryClock, id)}
		}
		pipe := s.rdb.Pipeline()
		pipe.ZAddXX(ctx, p.key("deadlines"), due...)
		pipe.Publish(ctx, p.key("wake"), wakeClock)
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return err
}

// List returns the limits that accounts have reached, of all nodes.
func (ls Limits) List(ctx context.Context) ([]job.Limit, error) {
	accounts, err := ls.s.rdb.SMembers(ctx, limitsIn.key("limits")).Result()
	if err != nil {
		return nil, err
	}
	reached, err := readEach(ctx, ls.s, accounts, func(pipe redis.Pipeliner, account string) *redis.MapStringStringCmd {
		return pipe.HGetAll(ctx, limitsIn.key("limit", account))
	})
	var limits []job.Limit
	for _, h := range reached {
		if h["until"] != "" { // else no turn has tried for a day
			limits = append(limits, job.Limit{
				Code: job.Code(h["code"]), Error: h["message"], Since: millis(h["since"]), Until: millis(h["until"]),
				Stated: h["stated"] == "1",
			})
		}
	}
	return limits, err
}

// Wall returns the earliest time at which any node can start a turn, if the account of every node is at a limit; zero if
// that has passed and a node waits for the turn that tries. isClosed is true if all living nodes are, and there are some.
func (ls Limits) Wall(ctx context.Context) (until time.Time, isClosed bool, err error) {
	limited, err := ls.s.rdb.SMembers(ctx, limitsIn.key("limits")).Result()
	if err != nil || len(limited) == 0 {
		return time.Time{}, false, err
	}
	now := ls.s.clock.now()
	pipe := ls.s.rdb.Pipeline()
	living := pipe.ZRangeByScore(ctx, limitsIn.key("nodes"), &redis.ZRangeBy{Min: "(" + score(now), Max: "+inf"})
	accounts := pipe.HGetAll(ctx, limitsIn.key("accounts"))
	ends := map[string]*redis.StringCmd{}
	for _, account := range limited {
		ends[account] = pipe.HGet(ctx, limitsIn.key("limit", account), "until")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return time.Time{}, false, err
	}
	for _, node := range living.Val() {
		end, isLimited := ends[accounts.Val()[node]]
		if !isLimited || end.Val() == "" {
			return time.Time{}, false, nil
		}
		if ends := millis(end.Val()); until.IsZero() || ends.Before(until) {
			until = ends
		}
	}
	if !until.After(now) {
		until = time.Time{}
	}
	return until, len(living.Val()) > 0, nil
}
