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

// changeLimit reads the limit of an account, changes it by a rule, and writes the difference, unless it has changed in
// between: then it starts again.
func (s *Store) changeLimit(
	ctx context.Context, account string, change func(l *lifecycle.AccountLimit, now time.Time, grace time.Duration),
) error {
	key := limitsIn.key("limit", account)
	for range maxLoads {
		pipe := s.rdb.TxPipeline()
		read, at := pipe.HGetAll(ctx, key), s.readTime(ctx, pipe, limitsIn)
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
		change(&l, t.now, t.grace)
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
		if written, err := s.runCommit(ctx, &c); written || err != nil {
			return err
		}
	}
	return job.Contended()
}

// ReachRateLimit records that a job's turn ended at a limit of its account. It returns the time until
// which no other turn is started, and whether the account was at no limit before.
func (s *Store) ReachRateLimit(
	ctx context.Context, account string, id job.ID, reached lifecycle.ReachedRateLimit,
) (until lifecycle.RateLimit, isNew bool, err error) {
	err = s.changeLimit(ctx, account, func(l *lifecycle.AccountLimit, now time.Time, grace time.Duration) {
		until, isNew = l.Reach(id, reached, now, grace)
	})
	return until, isNew, err
}

// RateLimitWait returns how long no turn of an account is started: 0 if one turn may now try whether
// the limit has ended, negative if the account is at no limit or another turn is trying. isTried is
// true if another turn is trying.
func (s *Store) RateLimitWait(ctx context.Context, account string) (wait time.Duration, isTried bool, err error) {
	err = s.changeLimit(ctx, account, func(l *lifecycle.AccountLimit, now time.Time, grace time.Duration) {
		wait, isTried = l.Wait(now, grace)
	})
	return wait, isTried, err
}

// TryRateLimit lets a job's turn try whether its account's limit has ended. ok is false if another turn
// is trying or it is too early; isTry is true if there still is a limit.
func (s *Store) TryRateLimit(ctx context.Context, account string, id job.ID) (ok, isTry bool, err error) {
	err = s.changeLimit(ctx, account, func(l *lifecycle.AccountLimit, now time.Time, grace time.Duration) {
		ok, isTry = l.Try(id, now, grace)
	})
	return ok, isTry, err
}

// RenewTry renews the lease of the turn that tries.
func (s *Store) RenewTry(ctx context.Context, account string, id job.ID) error {
	return s.changeLimit(ctx, account, func(l *lifecycle.AccountLimit, now time.Time, _ time.Duration) { l.RenewTry(id, now) })
}

// StopTrying lets another turn try: this one did not find out whether the limit has ended.
func (s *Store) StopTrying(ctx context.Context, account string, id job.ID) error {
	return s.changeLimit(ctx, account, func(l *lifecycle.AccountLimit, _ time.Time, _ time.Duration) { l.StopTrying(id) })
}

// EndRateLimit ends an account's limit because a job's turn got through, if that is the turn that
// tries. It reports whether it is. First, the jobs that wait for a limit try again: if this process dies in
// between, one of them ends the limit.
func (s *Store) EndRateLimit(ctx context.Context, account string, id job.ID) (bool, error) {
	tries, err := s.rdb.HGet(ctx, limitsIn.key("limit", account), "job").Result()
	if err != nil || tries != string(id) {
		return false, ignoreNil(err)
	}
	if err := s.retryAllLimited(ctx); err != nil {
		return false, err
	}
	ended := false
	err = s.changeLimit(ctx, account, func(l *lifecycle.AccountLimit, _ time.Time, _ time.Duration) { ended = l.End(id) })
	if err != nil || !ended {
		return false, err
	}
	return true, s.retryAllLimited(ctx) // others may have begun to wait; from now on, RetryLimited finds out
}

// RetryLimited makes the jobs of a job's partition due that wait for a limit if the account is at none: when
// EndRateLimit looked for them, the job may not have waited yet.
func (s *Store) RetryLimited(ctx context.Context, account string, id job.ID) error {
	wait, isTried, err := s.RateLimitWait(ctx, account)
	if err != nil || isTried || wait >= 0 {
		return err
	}
	return s.retryLimited(ctx, PartitionOf(id))
}

func (s *Store) retryAllLimited(ctx context.Context) error {
	return eachPartition(func(p Partition) error { return s.retryLimited(ctx, p) })
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

// Limits returns the limits that accounts have reached, of all nodes.
func (s *Store) Limits(ctx context.Context) ([]job.Limit, error) {
	accounts, err := s.rdb.SMembers(ctx, limitsIn.key("limits")).Result()
	if err != nil {
		return nil, err
	}
	reached, err := readEach(ctx, s, accounts, func(pipe redis.Pipeliner, account string) *redis.MapStringStringCmd {
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

// Wall returns the earliest time at which any node can start a turn, if the account of every node
// is at a limit; zero if that time has passed and a node waits for the turn that tries. isClosed is
// true if every node is at a limit. It is false if no node is alive.
func (s *Store) Wall(ctx context.Context) (until time.Time, isClosed bool, err error) {
	limited, err := s.rdb.SMembers(ctx, limitsIn.key("limits")).Result()
	if err != nil || len(limited) == 0 {
		return time.Time{}, false, err
	}
	now := s.clock.now()
	pipe := s.rdb.Pipeline()
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
