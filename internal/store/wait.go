package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Wait configures how a commit waits for replicas if its caller relies on the result.
type Wait struct {
	// Replicas is the number of replicas that must have the commit; 0 for none.
	Replicas int
	// Timeout is the maximum wait.
	Timeout time.Duration
}

// maxMoves limits how often a commit follows a partition that moves to another server of a Cluster.
const maxMoves = 5

// writeAndWait writes a commit without guards and, if configured, waits for replicas.
func (s *Store) writeAndWait(ctx context.Context, c *commit) error {
	write := s.runCommit
	if s.opts.Wait.Replicas > 0 {
		write = s.commitAndWait
	}
	_, err := write(ctx, c)
	return err
}

// commitAndWait is runCommit, and then waits until replicas have that write and all earlier ones, and so
// what was read: every commit writes at least its id. WAIT applies to the writes of its own connection, so
// both use the same connection.
func (s *Store) commitAndWait(ctx context.Context, c *commit) (bool, error) {
	keys, args := s.keysOf(partitionAt(c.prefix)), s.commitArgs(c)
	for moves := 0; ; moves++ {
		primary, err := s.primaryOf(ctx, c.prefix)
		if err != nil {
			return false, storeError(ctx, err)
		}
		committed, confirmed, err := s.sendAndWait(ctx, primary, keys, args)
		if elsewhere(err) && moves < maxMoves {
			s.rdb.(*redis.ClusterClient).ReloadState(ctx)
			if err := lifecycle.Wait(ctx, 50*time.Millisecond); err != nil { // until the partition's new server is known
				return false, err
			}
			continue
		}
		if err != nil {
			return false, storeError(ctx, err)
		}
		if committed && confirmed < s.opts.Wait.Replicas {
			return true, unconfirmed(confirmed, s.opts.Wait)
		}
		return committed, nil
	}
}

// sendAndWait sends a commit and waits for the replicas; it returns how many have it. It sends the
// whole script, because EVALSHA fails on a server that does not know it yet.
func (s *Store) sendAndWait(
	ctx context.Context, primary redis.Cmdable, keys []string, args []any,
) (committed bool, confirmed int, err error) {
	pipe := primary.Pipeline()
	answer := s.scripts.commit.Eval(ctx, pipe, keys, args...)
	wait := pipe.Do(ctx, "wait", s.opts.Wait.Replicas, toMillis(s.opts.Wait.Timeout))
	_, _ = pipe.Exec(ctx) // each has its own error
	n, err := answer.Int64()
	noteWrite(ctx, err, answer) // a server of a Cluster has no errorHook
	if err != nil {
		return false, 0, err
	}
	confirmed, err = wait.Int()
	return n == 1, confirmed, err
}

// primaryOf returns a client of the server with the partition. The client's timeout is long enough
// for WAIT.
func (s *Store) primaryOf(ctx context.Context, prefix string) (redis.Cmdable, error) {
	timeout := s.opts.Wait.Timeout + readTimeout
	if cluster, ok := s.rdb.(*redis.ClusterClient); ok {
		primary, err := cluster.MasterForKey(ctx, prefix)
		if err != nil {
			return nil, err
		}
		return primary.WithTimeout(timeout), nil
	}
	return s.rdb.(*redis.Client).WithTimeout(timeout), nil
}

// elsewhere reports whether another server of a Cluster has the partition.
func elsewhere(err error) bool { return errorCode(err) == "MOVED" || errorCode(err) == "ASK" }

// unconfirmed returns the error for a commit that was written but that too few replicas confirmed.
func unconfirmed(confirmed int, w Wait) error {
	return job.Errorf(
		job.Unavailable, "The store has it, but only %[2]d of %[1]d replicas confirmed it within %[3]s", w.Replicas, confirmed,
		w.Timeout,
	).
		WithHint("It counts unless the store loses it now. %s", sendAgain)
}
