package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

const (
	// reservedFor is the time within which a job that is about to be opened must be committed.
	// Reservations are kept longer, because the clocks of a Cluster may differ.
	reservedFor       = 10 * time.Second
	reservedUntilGone = 15 * time.Second
)

// Reserve records that a job is about to be opened, and returns the reservations made before.
func (s *Store) Reserve(ctx context.Context, o lifecycle.Opening) (lifecycle.Reservation, error) {
	answer, _, err := s.runTimed(ctx, s.scripts.reserve, limitsIn, text(o), toMillis(reservedUntilGone))
	if err != nil {
		return lifecycle.Reservation{}, err
	}
	parts := answer.([]any)
	r := lifecycle.Reservation{Until: millisTime(parts[0].(int64)).Add(reservedFor)}
	for _, before := range texts(parts[1]) {
		var o lifecycle.Opening
		if json.Unmarshal([]byte(before), &o) == nil {
			r.Before = append(r.Before, o)
		}
	}
	return r, nil
}

// Release removes a reservation. If that fails, the reservation expires.
func (s *Store) Release(ctx context.Context, o lifecycle.Opening) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	defer cancel()
	_ = s.rdb.ZRem(ctx, limitsIn.key("opening"), text(o)).Err()
}

// Today returns the start of the day (UTC) by the store's time.
func (s *Store) Today() time.Time { return s.clock.now().Truncate(24 * time.Hour) }

// CountJobs implements lifecycle.Store. Each partition is read atomically.
func (s *Store) CountJobs(
	ctx context.Context, kind, user string, day time.Time, openings []lifecycle.Opening,
) (n job.Count, err error) {
	partitions := allPartitions()
	if user != "" {
		partitions = []Partition{partitionOf(user)}
	}
	pipe := s.rdb.Pipeline()
	reads := make([]*redis.Cmd, len(partitions))
	for i, p := range partitions {
		args := []any{kind, user, score(day), len(job.States)}
		for _, state := range job.States {
			args = append(args, string(state), state.Terminal())
		}
		for _, o := range openings {
			if PartitionOf(o.JobID) == p && (kind == "" || o.Kind == kind) && (user == "" || o.UserID == user) {
				args = append(args, string(o.JobID))
			}
		}
		reads[i] = s.scripts.quota.Eval(ctx, pipe, s.keysOf(p), args...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return n, err
	}
	for _, read := range reads {
		counts, err := read.Int64Slice()
		if err != nil {
			return n, err
		}
		n.Open, n.Today = n.Open+int(counts[0]), n.Today+int(counts[1])
	}
	return n, nil
}
