package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// finding is a job.Finding and its fix.
type finding struct {
	job.Finding
	partition Partition
	// guards hold as long as the records are unchanged since they were read, and still reports the
	// same for the rest; fix, joins and unused make the repair.
	guards, fix, joins, unused [][]any
	still                      func() (bool, error)
}

// inspectPage is the number of keys or members read in one round trip.
const inspectPage = 500

// Inspect compares everything stored with the records and reports inconsistencies. If mend is set,
// it repairs each one, unless the data has changed since it was read. It works in small steps while
// servers are running, and reads every key once.
func (s *Store) Inspect(ctx context.Context, mend bool, report func(job.Finding)) (Unjudged, error) {
	i := &inspection{store: s, ctx: ctx, found: func(f finding) error {
		applies, err := s.stillApplies(ctx, f, mend)
		if err == nil && applies {
			f.Mended = mend
			report(f.Finding)
		}
		return err
	}}
	err := s.eachNode(ctx, func(ctx context.Context, node redis.Cmdable) error {
		var cursor uint64
		for {
			keys, next, err := node.Scan(ctx, cursor, "rb:{*", inspectPage).Result()
			if err != nil {
				return storeError(err)
			}
			if err := i.keys(keys); err != nil {
				return err
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
	return i.unjudged, err
}

// Unjudged contains what an inspection leaves to the rules of jobs.
type Unjudged struct {
	// Waiting contains one job for each user with jobs that wait for the user's limit.
	Waiting []job.ID
	// Unowned contains the turns with a queue entry that their node no longer owns.
	Unowned []lifecycle.QueueEntry
	// Calling contains the jobs that have ended while a tool call in their chat has not.
	Calling []job.ID
}

// Claim claims what for the interval. It returns false if what is already claimed.
func (s *Store) Claim(ctx context.Context, what string, interval time.Duration) (bool, error) {
	ok, err := s.rdb.SetNX(ctx, Partition(0).key(what), 1, interval).Result()
	return ok, storeError(err)
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

// stillApplies reports whether a finding still applies, and if mend is set, repairs it in the same step.
// The data was read in several steps while servers were running, so it may have changed.
func (s *Store) stillApplies(ctx context.Context, f finding, mend bool) (bool, error) {
	if f.still != nil {
		if still, err := f.still(); err != nil || !still {
			return false, storeError(err)
		}
	}
	c := commit{prefix: f.partition.prefix(), guards: f.guards}
	if mend {
		c.commands, c.joins, c.unused = f.fix, f.joins, f.unused
	}
	return s.runCommit(ctx, &c)
}

// inspection is one run of Inspect.
type inspection struct {
	store    *Store
	ctx      context.Context //nolint:containedctx // an inspection is one call
	found    func(finding) error
	unjudged Unjudged
	// waitingUsers are the users with a job in unjudged.Waiting.
	waitingUsers map[string]bool
}

// storedKey is a parsed key: rb:{0a}:name:rest.
type storedKey struct {
	partition  Partition
	name, rest string
}

func (k storedKey) key() string { return k.partition.key(k.short()) }

// short returns the key without the prefix.
func (k storedKey) short() string { return strings.TrimSuffix(k.name+":"+k.rest, ":") }

func parseKey(text string) (k storedKey, ok bool) {
	if _, err := fmt.Sscanf(text, "rb:{%02x}:", &k.partition); err != nil || k.partition < 0 || k.partition >= Partitions {
		return k, false
	}
	k.name, k.rest, _ = strings.Cut(strings.TrimPrefix(text, k.partition.prefix()+":"), ":")
	return k, true
}

// keys inspects a page of keys.
func (i *inspection) keys(page []string) error {
	var jobs, checkpoints, under []storedKey
	for _, text := range page {
		k, ok := parseKey(text)
		if !ok {
			continue
		}
		var err error
		switch k.name {
		case "job":
			jobs = append(jobs, k)
		case "checkpoint":
			checkpoints = append(checkpoints, k)
		case "batches", "told", "audit", "approvals", "change", "viewed", "steers", "calls", "runs", "actions", "asked", "standing-of", "transcript", "stderr", "notes", "snapshot", "metered", "text":
			under = append(under, k)
		case "queue":
			err = i.unknownOwners(k)
		case "line":
			if err = i.members(k); err == nil {
				err = i.rounds(k)
			}
		case "jobs", "jobs-by", "jobs-tagged", "checkpoints", "checkpoints-by", "ids", "waiting", "running", "kind-jobs", "idempotency", "standing", "attempts", "acting", "queued":
			err = i.members(k)
		}
		if err != nil {
			return err
		}
	}
	if err := i.jobs(jobs); err != nil {
		return err
	}
	if err := i.checkpoints(checkpoints); err != nil {
		return err
	}
	return i.orphans(under)
}
