package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// maxFound is the maximum number of IDs with the same prefix read from one partition: far more than
// exist, unless the prefix is shorter than MinIDPrefix.
const maxFound = 100

// idsLike returns the IDs with a prefix. It reads one sorted set of each partition, by name: the
// cost does not depend on how many IDs there are.
func (s *Store) idsLike(ctx context.Context, prefix job.IDPrefix, userID string) ([]string, error) {
	pipe := s.rdb.Pipeline()
	var reads []*redis.StringSliceCmd
	for p := range Partition(Partitions) {
		beginning, ok := prefix.In(fmt.Sprintf("%02x", int(p)))
		if !ok || userID != "" && p != partitionOf(userID) {
			continue
		}
		reads = append(reads, pipe.ZRangeByLex(ctx, p.key("ids"), &redis.ZRangeBy{Min: "[" + beginning, Max: "(" + beginning + "~", Count: maxFound}))
	}
	if len(reads) == 0 {
		return nil, nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, storeError(err)
	}
	var ids []string
	for _, read := range reads {
		ids = append(ids, read.Val()...)
	}
	return ids, nil
}

// jobsLike returns the jobs that a query selects by their IDs, newest first.
func (s *Store) jobsLike(ctx context.Context, q Query) ([]job.Job, error) {
	ids, err := s.idsLike(ctx, q.IDs, q.UserID)
	if err != nil {
		return nil, err
	}
	positions := make([]position, len(ids))
	for i, id := range ids {
		positions[i].id = id
	}
	jobs, err := s.fetch(ctx, positions, q.Brief)
	if err != nil {
		return nil, err
	}
	return newest(jobs, q.Limit, q.selects, positionOfJob), nil
}

// checkpointsLike is jobsLike for checkpoints.
func (s *Store) checkpointsLike(ctx context.Context, q CheckpointQuery) ([]job.Checkpoint, error) {
	ids, err := s.idsLike(ctx, q.IDs, q.UserID)
	if err != nil {
		return nil, err
	}
	found, err := s.checkpoints(ctx, checkpointIDs(ids))
	if err != nil {
		return nil, err
	}
	return newest(found, q.Limit, q.selects, positionOfCheckpoint), nil
}

// newest returns the selected values, newest first, at most limit.
func newest[T any](all []T, limit int, selects func(T) bool, at func(T) position) []T {
	kept := slices.DeleteFunc(all, func(v T) bool { return !selects(v) })
	slices.SortFunc(kept, func(a, b T) int { return at(a).compare(at(b)) })
	return kept[:min(limit, len(kept))]
}
