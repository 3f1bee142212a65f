package store

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// ErrHeld is returned if another start of a server holds the name of a node.
var ErrHeld = errors.New("another server holds this node's name")

// Heartbeat reports to the other nodes that a node is alive, and with which Claude account it
// starts turns, if any. start identifies the start of its server. It returns the nodes that have been
// silent for too long; Lost lists their work. It returns ErrHeld if another start holds the name.
func (n Nodes) Heartbeat(ctx context.Context, node, account, start string) (silent []string, err error) {
	answer, err := n.s.runOnTime(ctx, n.s.scripts.heartbeat, 0, node, toMillis(n.s.opts.NodeTimeout), account, start)
	if answer == int64(0) {
		err = ErrHeld
	}
	return texts(answer), err
}

// Holder is a start of a server that holds the name of a node.
type Holder struct {
	Start string
	// Heartbeat changes with each heartbeat. Without another one, it lapses after Lapses.
	Heartbeat string
	Lapses    time.Duration
}

// Hold makes a start of a server the holder of a node's name, in place of one that has ended. It
// returns the holder if it is another one, and then changes nothing. An empty start gives the name
// back.
func (n Nodes) Hold(ctx context.Context, node, start, ended string) (other Holder, err error) {
	answer, err := n.s.runOnTime(ctx, n.s.scripts.hold, 0, node, start, ended)
	if parts := texts(answer); len(parts) == 3 {
		other = Holder{parts[0], parts[1], time.Duration(atoi(parts[2])) * time.Millisecond}
	}
	return other, err
}

// Lost lists the queue entries that a silent node owns: if there is an error, those in the partitions that are
// available. A node that owns none is removed, until its next heartbeat.
func (n Nodes) Lost(ctx context.Context, node string) ([]lifecycle.QueueEntry, error) {
	var each [Partitions][]lifecycle.QueueEntry
	err := eachPartition(func(p Partition) error {
		for _, priority := range []job.Priority{job.Interactive, job.Batch} {
			answer, err := n.s.run(ctx, n.s.scripts.lost, p, string(priority), node)
			if err != nil {
				return err
			}
			for entry := range slices.Chunk(texts(answer), 2) {
				each[p] = append(each[p], lifecycle.QueueEntry{JobID: job.ID(entry[0]), Priority: priority, Entry: entry[1]})
			}
		}
		return nil
	})
	lost := slices.Concat(each[:]...)
	if err == nil && len(lost) == 0 {
		_, _, err = n.s.runTimed(ctx, n.s.scripts.forget, 0, node) // it may have come back and dequeued something
	}
	return lost, err
}

// renew postpones the time at which a member of a sorted set expires, by the store's time. A missing member is
// not added.
func (s *Store) renew(ctx context.Context, p Partition, zset, member string, after time.Duration) error {
	_, err := s.runOnTime(ctx, s.scripts.renew, p, zset, member, toMillis(after))
	return err
}

// OwnedTurn is a turn that a node owns, according to the store.
type OwnedTurn struct {
	ID   job.ID
	Turn int
}

// OwnedBy returns the turns that a node owns according to the store, and the queue entries that it
// has taken without starting a turn. If there is an error, these are those in the partitions that are available.
func (n Nodes) OwnedBy(ctx context.Context, node string) ([]OwnedTurn, []lifecycle.QueueEntry, error) {
	var entries []lifecycle.QueueEntry
	var failed error
	for _, priority := range []job.Priority{job.Interactive, job.Batch} {
		read, err := readEach(ctx, n.s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.XStreamSliceCmd {
			return pipe.XReadGroup(ctx, &redis.XReadGroupArgs{
				Group: "workers", Consumer: node, Count: 1000, Block: -1,
				Streams: []string{p.key("queue", string(priority)), "0"},
			})
		})
		failed = cmp.Or(failed, err)
		for _, stream := range slices.Concat(read...) {
			for _, entry := range stream.Messages {
				if id, ok := entry.Values["id"].(string); ok {
					entries = append(entries, lifecycle.QueueEntry{JobID: job.ID(id), Priority: priority, Entry: entry.ID})
				}
			}
		}
	}
	turns, unstarted, err := n.s.owned(ctx, entries)
	return turns, unstarted, cmp.Or(failed, err)
}

// owned separates the entries with a started turn from the others.
func (s *Store) owned(
	ctx context.Context, entries []lifecycle.QueueEntry,
) (turns []OwnedTurn, unstarted []lifecycle.QueueEntry, err error) {
	fields, err := readEach(ctx, s, entries, func(pipe redis.Pipeliner, t lifecycle.QueueEntry) *redis.SliceCmd {
		return pipe.HMGet(ctx, PartitionOf(t.JobID).key("job", string(t.JobID)), "turn", "entry")
	})
	for i, t := range entries {
		record := texts(fields[i])
		switch {
		case len(record) == 0: // it could not be read
		case record[1] == t.Entry:
			turns = append(turns, OwnedTurn{ID: t.JobID, Turn: atoi(record[0])})
		default:
			unstarted = append(unstarted, t)
		}
	}
	return turns, unstarted, err
}

func isTimeout(err error) bool {
	var netErr net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout()
}

func itoa(n int) string { return strconv.Itoa(n) }
