package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// inspectPage is the number of keys or members read in one round trip.
const inspectPage = 500

// Inspect compares everything stored with the records and reports inconsistencies. If mend is set,
// it repairs each one, unless the data has changed since it was read. It works in small steps while
// servers are running, and reads every key once. jobs decides what takes the rules of jobs.
func (s *Store) Inspect(ctx context.Context, jobs *lifecycle.Service, mend bool, report func(job.Finding)) error {
	i := &inspection{store: s, ctx: ctx, jobs: jobs, mend: mend, report: report, waitingUsers: map[string]bool{}}
	return i.scan(i.keys)
}

// scan passes all keys on, page by page, and then judges what is in doubt.
func (i *inspection) scan(inspect func(keys []string)) error {
	err := i.store.eachKey(i.ctx, "rb:{*", func(page []string) error {
		inspect(page)
		return i.err
	})
	for n := 0; n < len(i.doubts) && err == nil; n++ {
		i.doubts[n]()
		err = i.err
	}
	return err
}

// eachKey calls do with the keys that match a pattern, page by page, of one Redis after the other.
func (s *Store) eachKey(ctx context.Context, pattern string, do func(page []string) error) error {
	return s.eachNode(ctx, func(ctx context.Context, node redis.Cmdable) error {
		for cursor := uint64(0); ; {
			keys, next, err := node.Scan(ctx, cursor, pattern, inspectPage).Result()
			if err != nil {
				return storeError(ctx, err) // of one node of a Cluster
			}
			if err := do(keys); err != nil {
				return err
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
}

// Claim claims what for the interval. It returns false if what is already claimed.
func (s *Store) Claim(ctx context.Context, what string, interval time.Duration) (bool, error) {
	return s.rdb.SetNX(ctx, Partition(0).key(what), 1, interval).Result()
}

// eachNode calls do with each Redis that holds keys, one after the other.
func (s *Store) eachNode(ctx context.Context, do func(context.Context, redis.Cmdable) error) error {
	cluster, ok := s.rdb.(*redis.ClusterClient)
	if !ok {
		return do(ctx, s.rdb)
	}
	turn := make(chan struct{}, 1)
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		return do(ctx, node)
	})
}

// inspection is one run of Inspect.
type inspection struct {
	store  *Store
	ctx    context.Context //nolint:containedctx // an inspection is one call
	jobs   *lifecycle.Service
	mend   bool
	report func(job.Finding)
	// err is the first error. After it, nothing is reported or repaired.
	err error
	// doubts are judged by the rules of jobs once everything was read.
	doubts []func()
	// waitingUsers are the users with a job over the limit that is in doubt.
	waitingUsers map[string]bool
}

// found reports a finding if it still applies, and if mend is set, repairs it in the same step. The
// data was read in several steps while servers were running, so it may have changed: s and the
// guards must be as they were read.
func (i *inspection) found(s inspected, f job.Finding, fix func(*commit), guards ...[]any) {
	if i.err != nil {
		return
	}
	c := commit{prefix: s.partition.prefix(), now: i.store.clock.now(), guards: slices.Concat(s.guards, guards)}
	if i.mend {
		fix(&c)
	}
	if s.name == "job" {
		f.RequestID = job.ID(s.rest)
	}
	var applies bool
	applies, i.err = i.store.runCommit(i.ctx, &c)
	i.say(applies, f)
}

func (i *inspection) say(applies bool, f job.Finding) {
	if i.err == nil && applies {
		f.Mended = i.mend
		i.report(f)
	}
}

func (i *inspection) fail(err error) { i.err = cmp.Or(i.err, err) }

// doubt leaves it to the rules of jobs whether something is wrong.
func (i *inspection) doubt(f job.Finding, judge func(mend bool) (bool, error)) {
	i.doubts = append(i.doubts, func() {
		var wrong bool
		wrong, i.err = judge(i.mend)
		i.say(wrong, f)
	})
}

// keys inspects a page of keys.
func (i *inspection) keys(page []string) {
	var records, under []storedKey
	for _, text := range page {
		k, ok := parseKey(text)
		switch {
		case !ok:
		case k.name == "job" || k.name == "checkpoint":
			records = append(records, k)
		case slices.Contains(ofJob, k.name) || slices.Contains(ofTurn, k.name):
			under = append(under, k)
		case k.name == "queue":
			i.unknownOwners(k)
		case k.name == "attempts":
			i.attempts(k)
		case refersToRecords(k.name):
			i.members(k)
		}
	}
	i.records(records)
	i.orphans(under)
}

// inspected is a record as far as an inspection reads it.
type inspected struct {
	storedKey
	exists bool
	// record is empty unless it is a job.
	record lifecycle.Record
	// listings are where it must be listed.
	listings []listing
	// guards hold as long as it is unchanged.
	guards [][]any
}

// inspectedFields returns the fields of a record that an inspection reads: of a job all, because each may decide
// where it must be listed.
func inspectedFields(record string) []string {
	switch record {
	case "job":
		return fieldNames(recordFields)
	case "checkpoint":
		return []string{"version", "status", "type", "user", "created"}
	}
	return []string{"state"}
}

// subjects reads records, including those that are gone.
func (i *inspection) subjects(keys []storedKey) map[storedKey]inspected {
	records, err := readEach(i.ctx, i.store, keys, func(pipe redis.Pipeliner, k storedKey) *redis.SliceCmd {
		return pipe.HMGet(i.ctx, k.key(), inspectedFields(k.name)...)
	})
	i.fail(err)
	subjects := make(map[storedKey]inspected, len(keys))
	for n, k := range keys[:len(records)] {
		subjects[k], err = inspectedOf(k, hashOf(inspectedFields(k.name), records[n]))
		i.fail(err)
	}
	return subjects
}

func inspectedOf(k storedKey, h map[string]string) (s inspected, err error) {
	s.storedKey, s.exists = k, h["state"] != "" || h["status"] != ""
	for _, field := range []string{"version", "state", "status"} {
		s.guards = append(s.guards, []any{"is", k.key(), field, h[field]})
	}
	switch {
	case !s.exists:
	case k.name == "job":
		s.record.ID = job.ID(k.rest)
		err = decodeRecord(&s.record, h)
		s.listings = listingsOfJob(&s.record)
	case k.name == "checkpoint":
		c := lifecycle.Checkpoint{ID: job.CheckpointID(k.rest)}
		err = decodeValues(&c, checkpointFields, h)
		s.listings = listingsOfCheckpoint(&c)
	case h["state"] == string(lifecycle.RunRunning):
		s.listings = []listing{{"acting", k.rest, ""}}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", k.rest, err)
	}
	return s, err
}

// belongs reports whether a list, set or hash may contain a record.
func (s inspected) belongs(k storedKey) bool {
	switch k.name {
	case "line":
		return s.record.IsQueued() && slices.Contains(linesOf(s.record.QueuePosition()), k.rest)
	case "queued":
		return s.record.IsQueued() && string(s.record.Priority) == k.rest
	case "idempotency":
		return s.exists
	case "standing":
		return s.exists && !s.record.State.Terminal()
	}
	return slices.ContainsFunc(s.listings, func(p listing) bool { return p.list == k.short() })
}
