package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrInUse is returned for a store that is not empty.
var ErrInUse = errors.New("it has keys of Ringback (rb:*) already")

// allKeys is a pattern of all keys of the store.
const allKeys = "rb:*"

// CopyTo copies all keys to an empty store. They are as they were at one moment only if no server uses this store
// meanwhile. Until all are there, no server starts with the other store.
func (s *Store) CopyTo(ctx context.Context, to *Store) error {
	if err := to.eachKey(ctx, allKeys, func(page []string) error {
		if len(page) > 0 {
			return ErrInUse
		}
		return nil
	}); err != nil {
		return err
	}
	format := Partition(0).key("format")
	known, err := s.rdb.Get(ctx, format).Result()
	switch {
	case isNil(err):
		err = errors.New("it has no keys of Ringback (rb:*)")
	case err == nil:
		err = to.rdb.Set(ctx, format, 0, 0).Err() // no server reads this format
	}
	if err == nil {
		err = s.eachKey(ctx, allKeys, func(page []string) error {
			page = slices.DeleteFunc(page, func(key string) bool { return key == format })
			for keys := range slices.Chunk(page, copiedAtOnce) {
				if err := s.copyKeys(ctx, to, keys); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil {
		err = to.rdb.Set(ctx, format, known, 0).Err()
	}
	return err
}

// copiedAtOnce is the number of keys in one round trip, some of which may be large.
const copiedAtOnce = 16

func (s *Store) copyKeys(ctx context.Context, to *Store, keys []string) error {
	dumps, err := readEach(ctx, s, keys, func(pipe redis.Pipeliner, key string) *redis.StringCmd { return pipe.Dump(ctx, key) })
	if ignoreNil(err) != nil { // nil: one has expired
		return err
	}
	lives, err := readEach(ctx, s, keys, func(pipe redis.Pipeliner, key string) *redis.DurationCmd { return pipe.PTTL(ctx, key) })
	if err != nil {
		return err
	}
	pipe := to.rdb.Pipeline()
	for i, key := range keys {
		const forever = time.Duration(-1)
		switch {
		case lives[i] == forever:
			pipe.RestoreReplace(ctx, key, 0, dumps[i])
		case lives[i] > 0 && dumps[i] != "":
			pipe.RestoreReplace(ctx, key, lives[i], dumps[i])
		}
	}
	_, err = pipe.Exec(ctx)
	return err
}
