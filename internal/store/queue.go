package store

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// The queue of a partition. Each user has a line of waiting jobs for each API key that has created some,
// "line:<name>", ordered by level and age. Each level and key has a round, "round:<level>:<key>", of the
// users with such jobs, by the time of their turn. dequeue.lua assigns one job of the user with the first
// turn, and the user's next turn comes after those of all others: a user's wait depends on how many users
// wait, not on how many jobs they have. "payers:<level>" has the keys. Turns decides which partition,
// level and key are next.
//
// The jobs of users' tokens and those without a key share the round "round:<level>". It also has the users with a
// key, at a score below 0, so that all are counted, and so that servers that know only that round find them.
//
// A dequeued job becomes an entry of the stream "queue:<priority>", where its node owns it.

// levels are the classes of waiting jobs, "<priority>:<class>", in the order in which they are dequeued; Turns
// does not let one starve another.
var levels = [...]string{"interactive:resumed", "interactive:new", "batch:resumed", "batch:new"}

// levelOf returns the index of a position's level.
func levelOf(p lifecycle.QueuePosition) int {
	i := 0
	if p.Priority == job.Batch {
		i = 2
	}
	if !p.Resumes {
		i++
	}
	return i
}

// levelWidth separates the scores of one level from those of the next. It exceeds every time in
// milliseconds until the year 2286.
const levelWidth = 1e13

// positionScore orders a user's jobs by level and age.
func positionScore(p lifecycle.QueuePosition) string {
	return strconv.FormatInt(int64(levelOf(p))*levelWidth+p.Since.UnixMilli(), 10)
}

// keyPrefix begins the names of lines and members of rounds for jobs of an API key: no user has such a
// name. round.lua assumes the same.
const keyPrefix = job.ReservedUserPrefix + "key:"

// lineOf returns the name of a job's line.
func lineOf(p lifecycle.QueuePosition) string {
	if p.Key == "" {
		return p.UserID
	}
	return keyPrefix + p.Key + ":" + p.UserID
}

// turnsOf returns where a job's line must be so that it has a turn at a level.
func turnsOf(level int, p lifecycle.QueuePosition) []listing {
	round, line := "round:"+levels[level], lineOf(p)
	if p.Key == "" {
		return []listing{{round, line, ""}}
	}
	return []listing{{round + ":" + p.Key, line, ""}, {"payers:" + levels[level], p.Key, ""}}
}

// enqueue adds a job to its line, and the user to the round. turn is the user's turn; 0 for the last.
func (c *commit) enqueue(p lifecycle.QueuePosition, turn int64) {
	line := lineOf(p)
	c.do("ZADD", c.key("line", line), positionScore(p), string(p.JobID))
	c.do("ZADD", c.key("queued", string(p.Priority)), score(c.now), string(p.JobID))
	c.join(levelOf(p), line, turn)
}

// join adds a user to a round, and wakes the nodes.
func (c *commit) join(level int, who string, turn int64) {
	c.joins = append(c.joins, []any{levels[level], who, turn})
}

// mostKeys is the number of API keys that a partition lists of each level: those that it has served least
// recently.
const mostKeys = 32

// Dequeue assigns the next job to a node; ok is false if none waits, as far as turns knows. It must not be
// called concurrently with the same turns.
//
// A partition that is unavailable is left out for a while. Its error is returned if no other one has a job.
func (q Queue) Dequeue(ctx context.Context, turns *Turns, node string) (entry lifecycle.QueueEntry, ok bool, err error) {
	begun := time.Now()
	for {
		c, some := turns.next()
		if !some || err != nil && (ctx.Err() != nil || time.Since(begun) > time.Second) {
			return lifecycle.QueueEntry{}, false, err
		}
		asked := time.Now()
		parts, failed := q.s.dequeue(ctx, c.in, node, c.level+1, c.key)
		if failed != nil {
			turns.leaveOut(c.in, time.Since(asked))
			err = failed
			continue
		}
		turns.answered(c, parts[0] != "", parts[4:])
		if parts[0] != "" {
			return entryOf(parts), true, nil
		}
	}
}

// DequeueUnlimited is Dequeue for a node whose account is at a limit of Claude's: it assigns a job whose next turn
// does not call Claude. Partitions are asked in random order. An error is returned if no available one has such a job.
func (q Queue) DequeueUnlimited(ctx context.Context, node string) (entry lifecycle.QueueEntry, ok bool, err error) {
	waiting, err := readEach(ctx, q.s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.IntCmd {
		return pipe.ZCard(ctx, p.key("unlimited"))
	})
	for _, p := range rand.Perm(len(waiting)) { //nolint:gosec // no one gains by guessing it
		if waiting[p] == 0 {
			continue
		}
		parts, failed := q.s.dequeue(ctx, Partition(p), node, unlimited, "")
		if parts[0] != "" {
			return entryOf(parts), true, nil
		}
		err = cmp.Or(err, failed)
	}
	return lifecycle.QueueEntry{}, false, err
}

// unlimited stands for a level, in dequeue.lua.
const unlimited = -1

// dequeue runs lua/dequeue.lua.
func (s *Store) dequeue(ctx context.Context, p Partition, node string, level int, key string) ([]string, error) {
	args := []any{node, int64(levelWidth), level, key, mostKeys}
	for _, level := range levels {
		args = append(args, level)
	}
	answer, err := s.run(ctx, s.scripts.dequeue, p, args...)
	if err != nil {
		return make([]string, 4), err
	}
	return texts(answer), nil
}

// entryOf returns the entry that dequeue.lua has answered.
func entryOf(parts []string) lifecycle.QueueEntry {
	return lifecycle.QueueEntry{
		JobID: job.ID(parts[0]), Priority: job.Priority(parts[1]), Entry: parts[2], Turn: int64(atoi(parts[3])),
	}
}

// Show sets Queue for jobs that wait for a worker. The cost is logarithmic for each job, and
// one round trip for all.
func (q Queue) Show(ctx context.Context, jobs []*job.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	pipe := q.s.rdb.Pipeline()
	ranks, scores := make([]*redis.IntCmd, len(jobs)), make([]*redis.FloatCmd, len(jobs))
	for i, j := range jobs {
		line := PartitionOf(j.ID).key("line", lineOf(lifecycle.QueuePosition{Key: j.APIKey, UserID: j.UserID}))
		ranks[i], scores[i] = pipe.ZRank(ctx, line, string(j.ID)), pipe.ZScore(ctx, line, string(j.ID))
	}
	var waiting [len(levels)][Partitions]*redis.IntCmd
	for n, l := range levels {
		for p := range Partition(Partitions) {
			waiting[n][p] = pipe.ZCard(ctx, p.key("round", l))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	for i, j := range jobs {
		if scores[i].Err() != nil { // it was dequeued
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

// Oldest returns how long the oldest job of each priority has waited for a worker; 0 if none
// waits.
func (q Queue) Oldest(ctx context.Context) (map[job.Priority]time.Duration, error) {
	oldest := map[job.Priority]time.Duration{}
	for _, priority := range []job.Priority{job.Interactive, job.Batch} {
		firsts, err := readEach(ctx, q.s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.ZSliceCmd {
			return pipe.ZRangeWithScores(ctx, p.key("queued", string(priority)), 0, 0)
		})
		if err != nil {
			return nil, err
		}
		for _, first := range slices.Concat(firsts...) {
			oldest[priority] = max(oldest[priority], q.s.clock.now().Sub(scoreTime(first.Score)))
		}
	}
	return oldest, nil
}
