package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// member is a member of a list, set or hash; of a hash, with its value.
type member struct{ name, value string }

// recordOf returns the record that a member refers to.
func (k storedKey) recordOf(m member) storedKey {
	name, id := "job", m.name
	switch {
	case k.name == "idempotency":
		id = m.value
	case k.name == "standing":
		var a job.Approval
		_ = json.Unmarshal([]byte(m.value), &a)
		id = string(a.RequestID)
	case k.name == "acting":
		name = "action"
	case strings.HasPrefix(id, "chk_"):
		name = "checkpoint"
	}
	return storedKey{k.partition, name, id}
}

// members checks whether what a list, set or hash names belongs there.
func (i *inspection) members(k storedKey) {
	for cursor := uint64(0); ; {
		members, next, err := i.scan(k, cursor)
		i.fail(err)
		records := make([]storedKey, len(members))
		for n, m := range members {
			records[n] = k.recordOf(m)
		}
		subjects := i.subjects(records)
		for n, m := range members {
			i.member(k, m, records[n], subjects[records[n]])
		}
		if cursor = next; cursor == 0 || i.err != nil {
			return
		}
	}
}

func (i *inspection) scan(k storedKey, cursor uint64) (members []member, next uint64, err error) {
	var texts []string
	switch typeOf(k.name) {
	case "set":
		texts, next, err = i.store.rdb.SScan(i.ctx, k.key(), cursor, "", inspectPage).Result()
		for _, text := range texts {
			members = append(members, member{name: text})
		}
		return members, next, err
	case "hash":
		texts, next, err = i.store.rdb.HScan(i.ctx, k.key(), cursor, "", inspectPage).Result()
	default:
		texts, next, err = i.store.rdb.ZScan(i.ctx, k.key(), cursor, "", inspectPage).Result()
	}
	for pair := range slices.Chunk(texts, 2) {
		members = append(members, member{pair[0], pair[1]})
	}
	return members, next, err
}

// member checks whether a member belongs where it is.
func (i *inspection) member(k storedKey, m member, of storedKey, s inspected) {
	switch {
	case of.rest == "": // a standing approval for all jobs of its kind
		return
	case s.belongs(k):
		if k.name == "waiting" {
			i.waits(s.record)
		}
		return
	}
	f := finding{
		Finding:   job.Finding{Problem: cmp.Or(strays[k.name], "it does not belong into the list"), Key: k.short(), Member: m.name},
		partition: k.partition, guards: s.guards,
		still: func() (bool, error) { return i.contains(k, m) },
		fix:   func(c *commit) { c.remove(k.short(), m.name) },
	}
	if of.name == "job" {
		f.RequestID = job.ID(of.rest)
		if !s.exists {
			f.Problem = "it names a job that is gone"
		}
	}
	i.found(f)
}

// belongs reports whether a list, set or hash may contain a record.
func (s inspected) belongs(k storedKey) bool {
	switch k.name {
	case "line":
		return s.record.IsQueued() && s.record.UserID == k.rest
	case "queued":
		return s.record.IsQueued() && string(s.record.Priority) == k.rest
	case "idempotency":
		return s.exists
	case "standing":
		return s.exists && !s.record.State.Terminal()
	}
	return slices.ContainsFunc(s.listings, func(p listing) bool { return p.list == k.short() })
}

// waits leaves it to the rules whether a user's jobs wait for a limit without need: one for each user.
func (i *inspection) waits(r lifecycle.Record) {
	if i.waitingUsers[r.UserID] {
		return
	}
	i.waitingUsers[r.UserID] = true
	i.doubt(job.Finding{
		Problem: "a job waits for a place, and one is free", Key: "waiting", RequestID: r.ID,
	}, func(mend bool) (bool, error) {
		return i.jobs.StartWaiting(i.ctx, r.ID, mend)
	})
}

// contains reports whether a list, set or hash still has a member.
func (i *inspection) contains(k storedKey, m member) (bool, error) {
	switch typeOf(k.name) {
	case "set":
		return i.store.rdb.SIsMember(i.ctx, k.key(), m.name).Result()
	case "hash":
		value, err := i.store.rdb.HGet(i.ctx, k.key(), m.name).Result()
		return err == nil && value == m.value, ignoreNil(err)
	}
	lacks, err := i.unscored(k.key(), m.name)()
	return !lacks, err
}

// unscored returns a function that reports whether a sorted set lacks a member.
func (i *inspection) unscored(key, member string) func() (bool, error) {
	return func() (bool, error) {
		err := i.store.rdb.ZScore(i.ctx, key, member).Err()
		return isNil(err), ignoreNil(err)
	}
}

// attempts finds attempt counts of tasks that are done.
func (i *inspection) attempts(k storedKey) {
	counts, err := i.store.rdb.HGetAll(i.ctx, k.key()).Result()
	i.fail(err)
	for task := range counts {
		i.found(finding{
			Finding:   job.Finding{Problem: "tries are counted of a task that is done", Key: k.short(), Member: task},
			partition: k.partition, still: i.unscored(k.partition.key("outbox"), task),
			fix: func(c *commit) { c.do("HDEL", k.key(), task) },
		})
	}
}

// unknownOwners finds unknown nodes that own entries of a queue. They are recorded as silent, so that
// another node takes over their entries.
func (i *inspection) unknownOwners(k storedKey) {
	consumers, err := i.store.rdb.XInfoConsumers(i.ctx, k.key(), "workers").Result()
	i.fail(err)
	nodes := Partition(0).key("nodes")
	for _, owner := range slices.DeleteFunc(consumers, func(c redis.XInfoConsumer) bool { return c.Pending == 0 }) {
		i.found(finding{
			Finding: job.Finding{Problem: "jobs are held by an unknown node", Key: k.short(), Member: owner.Name},
			still:   i.unscored(nodes, owner.Name),
			fix:     func(c *commit) { c.do("ZADD", nodes, "NX", 0, owner.Name) },
		})
	}
}
