package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Join makes a server known to the others that use the store, under a name that it has after a
// restart, too. Error: ErrFormat while servers of another format use it.
func (s *Store) Join(ctx context.Context, name string) error { return s.join(ctx, name, "") }

// Stay is the sign of life of a server that has joined. Error: ErrFormat if a newer version has
// begun to use the store, because this server was silent for too long.
func (s *Store) Stay(ctx context.Context, name string) error {
	known, err := s.rdb.Get(ctx, Partition(0).key("format")).Int()
	switch {
	case err != nil && !isNil(err):
		return storeError(err)
	case known > storedFormat:
		return newerFormat(known)
	}
	return s.join(ctx, name, strconv.Itoa(storedFormat))
}

// join also says up to which format others may be; empty for the same only.
func (s *Store) join(ctx context.Context, name, upTo string) error {
	answer, _, err := s.runTimed(ctx, s.scripts.join, 0, name, storedFormat, toMillis(s.opts.NodeTimeout), upTo)
	if err != nil {
		return err
	}
	others := stringsOf(answer)
	if len(others) == 0 {
		return nil
	}
	for i, other := range others {
		format, name, _ := strings.Cut(other, " ")
		others[i] = name + " (format " + format + ")"
	}
	return fmt.Errorf("%w: %s. This one writes format %d, and they cannot work together. Stop all servers of the other version, then start this one: turns go on meanwhile. A server that was killed counts for another %s (NODE_TIMEOUT)",
		ErrFormat, strings.Join(others, ", "), storedFormat, s.opts.NodeTimeout)
}

// Quit lets other servers know that one has stopped.
func (s *Store) Quit(ctx context.Context, name string) error {
	return storeError(s.rdb.ZRem(ctx, Partition(0).key("servers"), strconv.Itoa(storedFormat)+" "+name).Err())
}
