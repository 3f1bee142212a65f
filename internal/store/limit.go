package store

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// limitsIn is the partition with the limits of all accounts, and with other data across all users.
const limitsIn = Partition(0)

// tryLease is the lease of the turn that tries whether a limit has ended.
const tryLease = 30 * time.Second

// believed caps how far ahead an API may place the end of a limit: the longest limits are weekly.
const believed = 8 * 24 * time.Hour

// triesAnyway is the time after which another turn tries, however late a limit claims to end. Code
// that runs in a job controls what the job's process prints: it must not stop the jobs of others
// for days.
const triesAnyway = 15 * time.Minute

// Pauses are the waits for a limit for which the API does not report an end: First, doubled after
// each failed try, at most Longest.
type Pauses struct{ First, Longest time.Duration }

// ReachedRateLimit is the limit at which a turn ended.
type ReachedRateLimit struct {
	Code    job.Code
	Message string
	// ResetsAt is the end of the limit as reported by the API; zero if not reported.
	ResetsAt time.Time
	Pauses   Pauses
	// Took is the time since the turn began, if it is known. A limit that a later turn has found gone does not return
	// because of it.
	Took time.Duration
}

// runLimit runs lua/limit.lua for a job's turn on an account.
func (s *Store) runLimit(ctx context.Context, account string, id job.ID, what string, args ...any) (any, error) {
	answer, _, err := s.runTimed(ctx, s.scripts.limit, limitsIn, append([]any{account, string(id), what}, args...)...)
	return answer, err
}

// ReachRateLimit records that a job's turn ended at a limit of its account. It returns the time until
// which no other turn is started, and whether the account was at no limit before.
func (s *Store) ReachRateLimit(
	ctx context.Context, account string, id job.ID, l ReachedRateLimit,
) (until lifecycle.RateLimit, isNew bool, err error) {
	resets := int64(0)
	if !l.ResetsAt.IsZero() {
		resets = l.ResetsAt.UnixMilli()
	}
	answer, err := s.runLimit(ctx, account, id, "reach", string(l.Code), l.Message, resets,
		toMillis(l.Pauses.First), toMillis(l.Pauses.Longest), toMillis(believed), toMillis(triesAnyway), toMillis(l.Took))
	if err != nil {
		return lifecycle.RateLimit{}, false, err
	}
	n := answer.([]any)
	return lifecycle.RateLimit{Until: millisTime(n[0].(int64)), Stated: n[1].(int64) == 1}, n[2].(int64) == 1, nil
}

// RateLimitWait returns how long no turn of an account is started: 0 if one turn may now try whether
// the limit has ended, negative if the account is at no limit or another turn is trying. isTried is
// true if another turn is trying.
func (s *Store) RateLimitWait(ctx context.Context, account string) (wait time.Duration, isTried bool, err error) {
	answer, err := s.runLimit(ctx, account, "", "wait")
	if err != nil {
		return 0, false, err
	}
	n := answer.(int64)
	return time.Duration(n) * time.Millisecond, n == -2, nil
}

// TryRateLimit lets a job's turn try whether its account's limit has ended. ok is false if another turn
// is trying or it is too early; isTry is true if there still is a limit.
func (s *Store) TryRateLimit(ctx context.Context, account string, id job.ID) (ok, isTry bool, err error) {
	answer, err := s.runLimit(ctx, account, id, "try", toMillis(tryLease))
	if err != nil {
		return false, false, err
	}
	n := answer.(int64)
	return n != 0, n == 1, nil
}

// RenewTry renews the lease of the turn that tries.
func (s *Store) RenewTry(ctx context.Context, account string, id job.ID) error {
	_, err := s.runLimit(ctx, account, id, "renew", toMillis(tryLease))
	return err
}

// StopTrying lets another turn try: this one did not find out whether the limit has ended.
func (s *Store) StopTrying(ctx context.Context, account string, id job.ID) error {
	_, err := s.runLimit(ctx, account, id, "release")
	return err
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
	answer, err := s.runLimit(ctx, account, id, "clear")
	if err != nil || answer.(int64) != 1 {
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
