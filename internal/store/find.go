package store

import (
	"context"
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
	partitions := slices.DeleteFunc(allPartitions(), func(p Partition) bool {
		_, ok := prefix.In(p.digits())
		return !ok || userID != "" && p != partitionOf(userID)
	})
	ids, err := readEach(ctx, s, partitions, func(pipe redis.Pipeliner, p Partition) *redis.StringSliceCmd {
		beginning, _ := prefix.In(p.digits())
		return pipe.ZRangeByLex(ctx, p.key("ids"), &redis.ZRangeBy{Min: "[" + beginning, Max: "(" + beginning + "~", Count: maxFound})
	})
	return slices.Concat(ids...), err
}

// find returns the selected records with an ID prefix, newest first.
func (p page[T]) find(ctx context.Context, s *Store) ([]T, error) {
	ids, err := s.idsLike(ctx, p.ids, p.of.user)
	if err != nil {
		return nil, err
	}
	all, err := p.fetch(ids)
	found := slices.DeleteFunc(all, func(v T) bool { return !p.selects(v) })
	slices.SortFunc(found, func(a, b T) int { return p.at(a).compare(p.at(b)) })
	return found[:min(p.limit, len(found))], err
}
