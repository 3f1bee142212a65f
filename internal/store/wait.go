package store

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Wait is what a commit waits for on whose answer somebody relies.
type Wait struct {
	// Replicas is how many have to have it; 0 for none.
	Replicas int
	// Timeout is for how long at most.
	Timeout time.Duration
}

// maxMoves is how often a commit follows a partition that another server of a Cluster has
// now.
const maxMoves = 5

// writeAndWait writes a commit without guards, and waits for the replicas where any are
// waited for: for what was read with it, too, so it writes something in any case.
func (s *Store) writeAndWait(ctx context.Context, c *commit) error {
	write := s.runCommit
	if s.opts.Wait.Replicas > 0 {
		c.confirm()
		write = s.commitAndWait
	}
	_, err := write(ctx, c)
	return err
}

// confirm writes what says nothing, so that what was read is waited for with it.
func (c *commit) confirm() { c.do("SET", c.key("confirmed"), rand.Text(), "PX", toMillis(time.Minute)) }

// commitAndWait is runCommit, and waits until replicas have what was written, and with it
// all that was written before. WAIT is about what its own connection has written, so both
// go over one.
func (s *Store) commitAndWait(ctx context.Context, c *commit) (bool, error) {
	keys, args := s.keysOf(partitionAt(c.prefix)), s.commitArgs(c)
	for moves := 0; ; moves++ {
		primary, err := s.primaryOf(ctx, c.prefix)
		if err != nil {
			return false, storeError(err)
		}
		committed, confirmed, err := s.sendAndWait(ctx, primary, func(pipe redis.Pipeliner) *redis.Cmd {
			return s.scripts.commit.EvalSha(ctx, pipe, keys, args...)
		})
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			committed, confirmed, err = s.sendAndWait(ctx, primary, func(pipe redis.Pipeliner) *redis.Cmd {
				return s.scripts.commit.Eval(ctx, pipe, keys, args...)
			})
		}
		if elsewhere(err) && moves < maxMoves {
			s.rdb.(*redis.ClusterClient).ReloadState(ctx)
			select {
			case <-ctx.Done():
				return false, ctx.Err()
			case <-time.After(50 * time.Millisecond): // it asks who has it
			}
			continue
		}
		if err != nil {
			return false, storeError(err)
		}
		if committed && confirmed < s.opts.Wait.Replicas {
			return true, unconfirmed(confirmed, s.opts.Wait)
		}
		return committed, nil
	}
}

// sendAndWait sends a commit and waits for the replicas; it returns how many have it.
func (s *Store) sendAndWait(ctx context.Context, primary *redis.Client, send func(redis.Pipeliner) *redis.Cmd) (committed bool, confirmed int, err error) {
	pipe := primary.Pipeline()
	answer := send(pipe)
	wait := pipe.Do(ctx, "wait", s.opts.Wait.Replicas, toMillis(s.opts.Wait.Timeout))
	_, _ = pipe.Exec(ctx) // each has its own error
	n, err := answer.Int64()
	if err != nil {
		return false, 0, err
	}
	confirmed, err = wait.Int()
	return n == 1, confirmed, err
}

// primaryOf is a client of the server that has the partition, which waits long enough for
// an answer to WAIT.
func (s *Store) primaryOf(ctx context.Context, prefix string) (*redis.Client, error) {
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

// unconfirmed is the error for a commit that was written, and that too few replicas have
// confirmed.
func unconfirmed(confirmed int, w Wait) error {
	return job.Errorf(job.Unavailable, "The store has it, but of %d replicas only %d confirmed it within %s", w.Replicas, confirmed, w.Timeout).
		WithHint("It counts unless the store loses it now. Send the same request again: what was done is not done twice (a new job needs its Idempotency-Key for that).")
}
