package store

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// The queue of a partition. Each user has a line of waiting jobs, "line:<user>", ordered by level
// and age. Each level has a round, "round:<level>", of the users with such jobs. dequeue.lua assigns one
// job of the user whose turn it is and moves that user to the end of the round: a user's wait
// depends on how many users wait, not on how many jobs they have.
//
// A dequeued job becomes an entry of the stream "queue:<priority>", where its node owns it.

// level is a class of waiting jobs.
type level struct {
	priority string
	class    string
}

// levels are in the order in which they are dequeued. dequeue.lua assumes the same order; it does not let
// one level starve another.
var levels = [...]level{
	{string(job.Interactive), "resumed"},
	{string(job.Interactive), "new"},
	{string(job.Batch), "resumed"},
	{string(job.Batch), "new"},
}

func (l level) round() string { return l.priority + ":" + l.class }

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

// enqueue adds a job to its user's line, and the user to the round.
func (c *commit) enqueue(p lifecycle.QueuePosition) {
	c.do("ZADD", c.key("line", p.UserID), positionScore(p), string(p.JobID))
	c.do("ZADD", c.key("queued", string(p.Priority)), score(c.now), string(p.JobID))
	c.join(levels[levelOf(p)], p.UserID)
	c.do("PUBLISH", c.key("wake"), string(p.Priority))
}

// join adds a user to a round, unless already in it.
func (c *commit) join(l level, userID string) {
	c.joins = append(c.joins, []any{c.key("round", l.round()), userID})
}

// Dequeue assigns the next job of a partition to a node; ok is false if no job waits.
func (s *Store) Dequeue(ctx context.Context, p Partition, node string) (entry lifecycle.QueueEntry, ok bool, err error) {
	args := []any{node, int64(levelWidth)}
	for _, level := range levels {
		args = append(args, level.priority, level.round())
	}
	answer, err := s.run(ctx, s.scripts.dequeue, p, args...)
	if err != nil {
		return lifecycle.QueueEntry{}, false, err
	}
	parts := texts(answer)
	if len(parts) < 4 {
		return lifecycle.QueueEntry{}, false, nil
	}
	return lifecycle.QueueEntry{
		JobID: job.ID(parts[0]), Priority: job.Priority(parts[1]), Entry: parts[2], Users: atoi(parts[3]),
	}, true, nil
}

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
