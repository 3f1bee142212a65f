package store

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// inspectedFields are the fields of a job's record that an inspection reads.
var inspectedFields = []string{
	"version", "kind", "kindVersion", "user", "interprets", "tags", "state", "phase", "phaseUntil", "owner", "entry", "priority", "created", "finished",
	"deadline", "retention", "timeout", "queueTimeout", "resumeReason",
}

// records reads the inspected fields of jobs. The result does not contain jobs that are gone or
// texts that are not IDs.
func (i *inspection) records(ids []string) (map[string]lifecycle.Record, error) {
	pipe := i.store.rdb.Pipeline()
	reads := map[string]*redis.SliceCmd{}
	for _, id := range ids {
		if p, ok := partitionOfID(job.ID(id)); ok {
			reads[id] = pipe.HMGet(i.ctx, p.key("job", id), inspectedFields...)
		}
	}
	if len(reads) == 0 {
		return nil, nil
	}
	if _, err := pipe.Exec(i.ctx); err != nil {
		return nil, storeError(err)
	}
	records := map[string]lifecycle.Record{}
	for id, read := range reads {
		h := hashOf(inspectedFields, read.Val())
		if h["state"] == "" {
			continue
		}
		r := lifecycle.Record{ID: job.ID(id)}
		if err := decodeValues(&r, recordFields, h); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		records[id] = r
	}
	return records, nil
}

// unchanged returns guards that a job is as it was read. Version 0 is for a job that does not
// exist.
func unchanged(p Partition, id string, r lifecycle.Record) [][]any {
	key := p.key("job", id)
	return [][]any{{"is", key, "version", version(r.Version)}, {"is", key, "state", string(r.State)}}
}

// jobs checks whether jobs have everything that their records imply.
func (i *inspection) jobs(keys []storedKey) error {
	ids := make([]string, len(keys))
	for n, k := range keys {
		ids[n] = k.rest
	}
	records, err := i.records(ids)
	if err != nil || len(records) == 0 {
		return err
	}
	pipe := i.store.rdb.Pipeline()
	checks := map[string][]check{}
	for id, r := range records {
		checks[id] = i.checksOf(pipe, r)
	}
	if _, err := pipe.Exec(i.ctx); err != nil && !isNil(err) {
		return storeError(err)
	}
	for id, r := range records {
		for _, c := range checks[id] {
			if f := c(); f != nil {
				f.partition, f.RequestID, f.guards = PartitionOf(r.ID), r.ID, unchanged(PartitionOf(r.ID), id, r)
				if err := i.found(*f); err != nil {
					return err
				}
			}
		}
	}
	return i.unqueued(records)
}

// check evaluates what the pipeline has read; it returns nil if nothing is wrong.
type check func() *finding

func (i *inspection) checksOf(pipe redis.Pipeliner, r lifecycle.Record) []check {
	p, id := PartitionOf(r.ID), string(r.ID)
	var checks []check
	listed := jobLists(r)
	if listed != nil {
		checks = append(checks, i.listed(pipe, p, "ids", id, "0"))
	}
	for _, list := range listed {
		checks = append(checks, i.listed(pipe, p, list, id, score(r.CreatedAt)))
	}
	known := pipe.SIsMember(i.ctx, p.key("kinds"), r.Kind)
	checks = append(checks, func() *finding {
		if known.Val() {
			return nil
		}
		return &finding{Finding: job.Finding{Problem: "a list misses it", Key: "kinds", Member: r.Kind}, fix: [][]any{{"SADD", p.key("kinds"), r.Kind}}}
	})
	for _, version := range r.KindVersions() {
		key := "kind-jobs:" + version
		counted := pipe.SIsMember(i.ctx, p.key(key), id)
		checks = append(checks, func() *finding {
			if counted.Val() {
				return nil
			}
			return &finding{Finding: job.Finding{Problem: "a list misses it", Key: key, Member: id}, fix: [][]any{{"SADD", p.key(key), id}}}
		})
	}
	if r.Owner != "" {
		held := pipe.SIsMember(i.ctx, p.key("running", r.UserID), id)
		checks = append(checks, func() *finding {
			if held.Val() {
				return nil
			}
			return &finding{
				Finding: job.Finding{Problem: "a job holds a worker and is not counted", Key: "running:" + r.UserID, Member: id},
				fix:     [][]any{{"SADD", p.key("running", r.UserID), id}},
			}
		})
	}
	if r.Owner != "" && r.Entry != "" {
		taken := lifecycle.QueueEntry{JobID: r.ID, Priority: r.Priority, Entry: r.Entry}
		held := pipe.XPendingExt(i.ctx, pendingEntry(p, taken, ""))
		checks = append(checks, func() *finding {
			if held.Err() == nil && len(held.Val()) == 0 {
				i.unjudged.Unowned = append(i.unjudged.Unowned, taken)
			}
			return nil
		})
	}
	if r.State.Terminal() && r.Owner == "" {
		checks = append(checks, i.calls(pipe, p, r.ID))
	}
	return append(checks, i.clocks(pipe, p, r))
}

// calls reports a job with an unfinished tool call in its chat that nothing will end.
func (i *inspection) calls(pipe redis.Pipeliner, p Partition, id job.ID) check {
	read := pipe.HVals(i.ctx, p.key("calls", string(id)))
	return func() *finding {
		for _, text := range read.Val() {
			if decodeCall(text).EndsWithJob() {
				i.unjudged.Calling = append(i.unjudged.Calling, id)
				break
			}
		}
		return nil
	}
}

// listed checks that a list contains a member.
func (i *inspection) listed(pipe redis.Pipeliner, p Partition, list, id, score string) check {
	read := pipe.ZScore(i.ctx, p.key(list), id)
	return func() *finding {
		if read.Err() == nil {
			return nil
		}
		return &finding{Finding: job.Finding{Problem: "a list misses it", Key: list, Member: id}, fix: [][]any{{"ZADD", p.key(list), score, id}}}
	}
}

// clocks checks that something will advance a job or delete it: a clock, or the end of its process.
// If nothing will, the fix sets the clock of its state.
func (i *inspection) clocks(pipe redis.Pipeliner, p Partition, r lifecycle.Record) check {
	clock, of := lifecycle.ClockOf(r.State), lifecycle.JobClocks[:]
	due := i.store.clock.now().Add(r.CallbackTimeout)
	switch {
	case r.State.Terminal():
		of, due = []lifecycle.Clock{lifecycle.PurgeClock}, r.FinishedAt.Add(r.Retention)
	case !r.Deadline.IsZero():
		due = r.Deadline // this is the deadline that people see
	case r.State == job.Pending:
		due = i.store.clock.now().Add(r.QueueTimeout)
	}
	reads := make([]*redis.FloatCmd, len(of))
	for n, c := range of {
		reads[n] = pipe.ZScore(i.ctx, p.key("deadlines"), string(c)+"|"+string(r.ID))
	}
	return func() *finding {
		for _, read := range reads {
			if read.Err() == nil {
				return nil
			}
		}
		if !r.State.Terminal() && r.Owner != "" {
			return nil
		}
		member := string(clock) + "|" + string(r.ID)
		return &finding{
			Finding: job.Finding{Problem: "no clock runs for a job that is " + string(r.State), Key: "deadlines", Member: member},
			fix:     [][]any{{"ZADD", p.key("deadlines"), score(due), member}},
		}
	}
}

// checkpoints checks whether checkpoints are in the lists that they belong to.
func (i *inspection) checkpoints(keys []storedKey) error {
	pipe := i.store.rdb.Pipeline()
	reads := make([]*redis.MapStringStringCmd, len(keys))
	for n, k := range keys {
		reads[n] = pipe.HGetAll(i.ctx, k.key())
	}
	if len(keys) == 0 {
		return nil
	}
	if _, err := pipe.Exec(i.ctx); err != nil {
		return storeError(err)
	}
	pipe = i.store.rdb.Pipeline()
	checks := make([][]check, len(keys))
	versions := make([]int64, len(keys))
	for n, k := range keys {
		if len(reads[n].Val()) == 0 {
			continue // it was deleted after its key was read
		}
		c := lifecycle.Checkpoint{ID: job.CheckpointID(k.rest)}
		if err := decodeValues(&c, checkpointFields, reads[n].Val()); err != nil {
			return fmt.Errorf("%s: %w", k.rest, err)
		}
		versions[n] = c.Version
		for _, list := range checkpointLists(c) {
			checks[n] = append(checks[n], i.listed(pipe, k.partition, list, k.rest, score(c.CreatedAt)))
		}
		checks[n] = append(checks[n], i.listed(pipe, k.partition, "ids", k.rest, "0"))
	}
	if _, err := pipe.Exec(i.ctx); err != nil && !isNil(err) {
		return storeError(err)
	}
	for n, k := range keys {
		for _, c := range checks[n] {
			if f := c(); f != nil {
				f.partition, f.guards = k.partition, [][]any{{"is", k.key(), "version", version(versions[n])}}
				if err := i.found(*f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// orphans finds data kept for jobs that are gone.
func (i *inspection) orphans(keys []storedKey) error {
	ids := make([]string, len(keys))
	for n, k := range keys {
		ids[n], _, _ = strings.Cut(k.rest, ":")
	}
	records, err := i.records(ids)
	if err != nil {
		return err
	}
	for n, k := range keys {
		if _, ok := records[ids[n]]; ok {
			continue
		}
		err := i.found(finding{
			Finding:   job.Finding{Problem: "it is kept for a job that is gone", Key: k.short(), RequestID: job.ID(ids[n])},
			partition: k.partition, guards: unchanged(k.partition, ids[n], lifecycle.Record{}), fix: [][]any{{"DEL", k.key()}},
			still: func() (bool, error) { n, err := i.store.rdb.Exists(i.ctx, k.key()).Result(); return n > 0, err },
		})
		if err != nil {
			return err
		}
	}
	return nil
}
