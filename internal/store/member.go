package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Join registers a server with the others that use the store. Its name must stay the same after a
// restart. It returns ErrFormat while servers with another format use the store.
func (n Nodes) Join(ctx context.Context, name string) error { return n.s.join(ctx, name, "") }

// Stay renews the registration of a server. It returns ErrFormat if a newer version has begun to
// use the store because this server was silent for too long.
func (n Nodes) Stay(ctx context.Context, name string) error {
	known, err := n.s.rdb.Get(ctx, Partition(0).key("format")).Int()
	switch {
	case err != nil && !isNil(err):
		return err
	case known > Format:
		return newerFormat(known)
	}
	return n.s.join(ctx, name, strconv.Itoa(Format))
}

// join registers a server. upTo is the highest format that other servers may have; if empty, they
// must have the same format.
func (s *Store) join(ctx context.Context, name, upTo string) error {
	answer, _, err := s.runTimed(ctx, s.scripts.join, 0, name, Format, toMillis(s.opts.NodeTimeout), upTo)
	if err != nil {
		return err
	}
	others := texts(answer)
	if len(others) == 0 {
		return nil
	}
	for i, other := range others {
		format, name, _ := strings.Cut(other, " ")
		others[i] = name + " (format " + format + ")"
	}
	return fmt.Errorf(
		"%w: %s. This one writes format %d, and they cannot work together. Stop all servers of the other version, then start this one: turns continue. A server that was killed counts for another %s (NODE_TIMEOUT)",
		ErrFormat, strings.Join(others, ", "), Format, s.opts.NodeTimeout)
}

// Quit removes the registration of a server that has stopped.
func (n Nodes) Quit(ctx context.Context, name string) error {
	return n.s.rdb.ZRem(ctx, Partition(0).key("servers"), strconv.Itoa(Format)+" "+name).Err()
}
