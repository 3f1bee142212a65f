package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// limitsIn is where the limits of all accounts lie.
const limitsIn = Partition(0)

// tryLease is how long whoever tries whether a limit has ended may be silent.
const tryLease = 30 * time.Second

// believed is how far ahead an API may say that a limit ends: the longest count a week.
const believed = 8 * 24 * time.Hour

// triesAnyway is after how long another turn tries, however far ahead a limit is said to end. What a
// job's process prints is said by whoever runs in it: it must not stop the jobs of others for days.
const triesAnyway = 15 * time.Minute

// Pauses are how long to wait for the end of a limit of which the API does not say when it
// ends: First, twice as long after each try in vain, and Longest at most.
type Pauses struct{ First, Longest time.Duration }

// ReachedLimit is the limit at which a turn ended.
type ReachedLimit struct {
	Code    job.Code
	Message string
	// ResetsAt is when it ends by what the API says; zero where it does not say.
	ResetsAt time.Time
	Pauses   Pauses
}

// ReachLimit notes that a job's turn ended at a limit of its account. It returns until when
// no other is started, and whether the account was at no limit before.
func (s *Store) ReachLimit(ctx context.Context, account string, id job.ID, l ReachedLimit) (until lifecycle.Limit, isNew bool, err error) {
	resets := int64(0)
	if !l.ResetsAt.IsZero() {
		resets = l.ResetsAt.UnixMilli()
	}
	answer, _, err := s.runTimed(ctx, s.scripts.limit, limitsIn, account, string(id), "reach", string(l.Code), l.Message, resets,
		toMillis(l.Pauses.First), toMillis(l.Pauses.Longest), toMillis(believed), toMillis(triesAnyway))
	if err != nil {
		return lifecycle.Limit{}, false, err
	}
	n := answer.([]any)
	return lifecycle.Limit{Until: time.UnixMilli(n[0].(int64)).UTC(), Stated: n[1].(int64) == 1}, n[2].(int64) == 1, nil
}

// LimitWait is how long no turn of an account is started: negative where it is at no
// limit, 0 where one turn may try now whether the limit has ended. isTried is whether one
// does already.
func (s *Store) LimitWait(ctx context.Context, account string) (wait time.Duration, isTried bool, err error) {
	answer, _, err := s.runTimed(ctx, s.scripts.limit, limitsIn, account, "", "wait")
	if err != nil {
		return 0, false, err
	}
	n := answer.(int64)
	return time.Duration(n) * time.Millisecond, n == -2, nil
}

// TryLimit lets a job's turn try whether its account's limit has ended. ok is false where
// another one does, or it is not time; isTry where there still is a limit.
func (s *Store) TryLimit(ctx context.Context, account string, id job.ID) (ok, isTry bool, err error) {
	answer, _, err := s.runTimed(ctx, s.scripts.limit, limitsIn, account, string(id), "try", toMillis(tryLease))
	if err != nil {
		return false, false, err
	}
	n := answer.(int64)
	return n != 0, n == 1, nil
}

// KeepTrying says that the turn which tries is still there.
func (s *Store) KeepTrying(ctx context.Context, account string, id job.ID) error {
	_, _, err := s.runTimed(ctx, s.scripts.limit, limitsIn, account, string(id), "renew", toMillis(tryLease))
	return err
}

// StopTrying lets another turn try: this one has said nothing of the limit.
func (s *Store) StopTrying(ctx context.Context, account string, id job.ID) error {
	_, _, err := s.runTimed(ctx, s.scripts.limit, limitsIn, account, string(id), "release")
	return err
}

// EndLimit notes that the turn which tried got through. It returns whether it was the one.
func (s *Store) EndLimit(ctx context.Context, account string, id job.ID) (bool, error) {
	answer, _, err := s.runTimed(ctx, s.scripts.limit, limitsIn, account, string(id), "clear")
	return err == nil && answer.(int64) == 1, err
}

// Limits are the limits that accounts are at, of all nodes.
func (s *Store) Limits(ctx context.Context) ([]job.Limit, error) {
	accounts, err := s.rdb.SMembers(ctx, limitsIn.key("limits")).Result()
	if err != nil || len(accounts) == 0 {
		return nil, storeError(err)
	}
	pipe := s.rdb.Pipeline()
	reads := make([]*redis.MapStringStringCmd, len(accounts))
	for i, account := range accounts {
		reads[i] = pipe.HGetAll(ctx, limitsIn.key("limit", account))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, storeError(err)
	}
	var limits []job.Limit
	for _, read := range reads {
		if h := read.Val(); h["until"] != "" { // else nobody has tried for a day
			limits = append(limits, job.Limit{
				Code: job.Code(h["code"]), Error: h["message"], Since: millis(h["since"]), Until: millis(h["until"]), Stated: h["stated"] == "1",
			})
		}
	}
	return limits, nil
}

// Wall is until when no node starts a turn of Claude's, for each is at a limit of its
// account, or waits for the one that tries; zero where nobody knows. isClosed is whether it
// is so. Where no node lives, nobody is kept from anything.
func (s *Store) Wall(ctx context.Context) (until time.Time, isClosed bool, err error) {
	limited, err := s.rdb.SMembers(ctx, limitsIn.key("limits")).Result()
	if err != nil || len(limited) == 0 {
		return time.Time{}, false, storeError(err)
	}
	now := s.clock.now()
	pipe := s.rdb.Pipeline()
	living := pipe.ZRangeByScore(ctx, limitsIn.key("nodes"), &redis.ZRangeBy{Min: "(" + score(now), Max: "+inf"})
	accounts := pipe.HGetAll(ctx, limitsIn.key("accounts"))
	ends := map[string]*redis.StringCmd{}
	for _, account := range limited {
		ends[account] = pipe.HGet(ctx, limitsIn.key("limit", account), "until")
	}
	if _, err := pipe.Exec(ctx); err != nil && !isNil(err) {
		return time.Time{}, false, storeError(err)
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
