package store

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strconv"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Heartbeat tells the other nodes that node is alive.
func (s *Store) Heartbeat(ctx context.Context, node string) error {
	for p := range Partition(Partitions) {
		if _, err := s.run(ctx, s.scripts.heartbeat, p, node, toMillis(s.opts.NodeTimeout)); err != nil {
			return err
		}
	}
	return nil
}

// RecoverLost rings Claude again for the turns of nodes that fell silent, and
// returns their jobs.
func (s *Store) RecoverLost(ctx context.Context, p Partition) ([]job.ID, error) {
	note, err := json.Marshal(Note{Reason: Lost})
	if err != nil {
		return nil, err
	}
	var recovered []job.ID
	for _, priority := range []job.Priority{job.Interactive, job.Batch} {
		answer, err := s.run(ctx, s.scripts.recover, p, string(priority),
			string(job.CodeCrashed), "The job lost its server again and again.", string(note))
		if err != nil {
			return recovered, err
		}
		for _, id := range stringsOf(answer) {
			recovered = append(recovered, job.ID(id))
		}
	}
	return recovered, nil
}

// Held is a turn that the store has given to a node.
type Held struct {
	ID   job.ID
	Turn int
}

// HeldBy returns the turns that node holds, as the store knows it.
func (s *Store) HeldBy(ctx context.Context, node string) ([]Held, error) {
	pipe := s.rdb.Pipeline()
	var reads []*redis.XStreamSliceCmd
	for p := range Partition(Partitions) {
		for _, priority := range []job.Priority{job.Interactive, job.Batch} {
			reads = append(reads, pipe.XReadGroup(ctx, &redis.XReadGroupArgs{
				Group: "workers", Consumer: node, Count: 1000, Block: -1,
				Streams: []string{p.key("queue", string(priority)), "0"},
			}))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, storeError(err)
	}
	var held []Held
	for _, read := range reads {
		for _, stream := range read.Val() {
			for _, entry := range stream.Messages {
				if id, ok := entry.Values["id"].(string); ok {
					held = append(held, Held{ID: job.ID(id)})
				}
			}
		}
	}
	return s.withTurns(ctx, node, held)
}

// withTurns adds the turn numbers and leaves out what another node has taken
// over meanwhile.
func (s *Store) withTurns(ctx context.Context, node string, held []Held) ([]Held, error) {
	if len(held) == 0 {
		return nil, nil
	}
	pipe := s.rdb.Pipeline()
	fields := make([]*redis.SliceCmd, len(held))
	for i, h := range held {
		p, _ := partitionOfID(h.ID)
		fields[i] = pipe.HMGet(ctx, p.key("job", string(h.ID)), "turn", "owner")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, storeError(err)
	}
	mine := held[:0]
	for i, h := range held {
		turn, _ := fields[i].Val()[0].(string)
		if owner, _ := fields[i].Val()[1].(string); owner == node {
			mine = append(mine, Held{ID: h.ID, Turn: atoi(turn)})
		}
	}
	return mine, nil
}

func isTimeout(err error) bool {
	var netErr net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout()
}

func itoa(n int) string { return strconv.Itoa(n) }
