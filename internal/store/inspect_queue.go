package store

import (
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// unqueued finds jobs that wait for a worker but that no worker will find: they are neither at
// their position in their user's line nor taken by a node.
func (i *inspection) unqueued(records map[string]lifecycle.Record) error {
	pipe := i.store.rdb.Pipeline()
	scores := map[string]*redis.FloatCmd{}
	for id, r := range records {
		if r.IsQueued() {
			scores[id] = pipe.ZScore(i.ctx, PartitionOf(r.ID).key("line", r.UserID), id)
		}
	}
	if len(scores) == 0 {
		return nil
	}
	if _, err := pipe.Exec(i.ctx); err != nil && !isNil(err) {
		return storeError(err)
	}
	taken := map[Partition]map[string]bool{}
	for id, read := range scores {
		r := records[id]
		p, position := PartitionOf(r.ID), r.QueuePosition()
		if read.Err() == nil && strconv.FormatInt(int64(read.Val()), 10) == positionScore(position) {
			continue
		}
		if taken[p] == nil {
			ids, err := i.taken(p)
			if err != nil {
				return err
			}
			taken[p] = ids
		}
		if taken[p][id] {
			continue
		}
		fix := commit{prefix: p.prefix(), now: i.store.clock.now()}
		fix.enqueue(position)
		err := i.found(finding{
			Finding:   job.Finding{Problem: "a job waits for a worker and is not in the queue", Key: "line:" + r.UserID, Member: id, RequestID: r.ID},
			partition: p, guards: unchanged(p, id, r), fix: fix.commands, joins: fix.joins,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// taken returns the jobs of a partition that nodes have taken. It does not include stream entries
// that no node owns.
func (i *inspection) taken(p Partition) (map[string]bool, error) {
	ids := map[string]bool{}
	for _, priority := range []job.Priority{job.Interactive, job.Batch} {
		queue := p.key("queue", string(priority))
		for from := "-"; ; {
			held, err := i.store.rdb.XPendingExt(i.ctx, &redis.XPendingExtArgs{Stream: queue, Group: "workers", Start: from, End: "+", Count: inspectPage}).Result()
			if err != nil {
				return nil, storeError(err)
			}
			if len(held) == 0 {
				break
			}
			entries, err := i.store.rdb.XRange(i.ctx, queue, held[0].ID, held[len(held)-1].ID).Result()
			if err != nil {
				return nil, storeError(err)
			}
			for _, entry := range entries {
				isHeld := slices.ContainsFunc(held, func(h redis.XPendingExt) bool { return h.ID == entry.ID })
				if id, _ := entry.Values["id"].(string); isHeld {
					ids[id] = true
				}
			}
			from = after(held[len(held)-1].ID)
		}
	}
	return ids, nil
}

// after returns the smallest stream entry ID greater than id.
func after(id string) string {
	ms, n, _ := strings.Cut(id, "-")
	return ms + "-" + itoa(atoi(n)+1)
}

// rounds checks whether a user with a line takes part in the rounds of its levels.
func (i *inspection) rounds(k storedKey) error {
	for n, l := range levels {
		misses := func() (bool, error) {
			pipe := i.store.rdb.TxPipeline() // atomic: a take moves the user in between
			jobs := pipe.ZRangeByScore(i.ctx, k.key(), levelRange(n))
			turn := pipe.ZScore(i.ctx, k.partition.key("round", l.round()), k.rest)
			_, err := pipe.Exec(i.ctx)
			return len(jobs.Val()) > 0 && isNil(turn.Err()), ignoreNil(err)
		}
		fix := commit{prefix: k.partition.prefix()}
		fix.join(l, k.rest)
		fix.do("PUBLISH", fix.key("wake"), l.priority)
		err := i.found(finding{
			Finding:   job.Finding{Problem: "a user whose jobs wait has no turn", Key: "round:" + l.round(), Member: k.rest},
			partition: k.partition, fix: fix.commands, joins: fix.joins, still: misses,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
