package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// recordOf returns the record that a member of a list, set or hash refers to. value is its value in
// the hash.
func (k storedKey) recordOf(member, value string) storedKey {
	name, id := "job", member
	switch {
	case k.name == "idempotency":
		id = value
	case k.name == "standing":
		var a job.Approval
		_ = json.Unmarshal([]byte(value), &a)
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
	width := 2
	if typeOf(k.name) == "set" {
		width = 1
	}
	for cursor := uint64(0); ; {
		texts, next, err := collections[typeOf(k.name)].scan(i.store.rdb, i.ctx, k.key(), cursor, "", inspectPage).Result()
		i.fail(err)
		members := slices.Collect(slices.Chunk(texts, width))
		records := make([]storedKey, len(members))
		for n, m := range members {
			records[n] = k.recordOf(m[0], m[width-1])
		}
		subjects := i.subjects(records)
		for n, m := range members {
			if of := subjects[records[n]]; of.rest != "" && !of.belongs(k) { // an approval may be for all jobs of a kind
				i.stray(k, m[0], m[width-1], of)
			}
		}
		if cursor = next; cursor == 0 || i.err != nil {
			return
		}
	}
}

// stray removes a member from a list, set or hash that its record does not belong to.
func (i *inspection) stray(k storedKey, member, value string, of inspected) {
	problem, is := cmp.Or(strays[k.name], "it does not belong in the list"), memberGuard("has", k.partition, k.short(), member)
	if of.name == "job" && !of.exists {
		problem = "it names a job that is gone"
	}
	if typeOf(k.name) == "hash" {
		is = []any{"is", k.key(), member, value}
	}
	fix := func(c *commit) { c.remove(k.short(), member) }
	i.found(of, job.Finding{Problem: problem, Key: k.short(), Member: member}, fix, is)
}

// memberGuard returns the guard that a list, set or hash has, or lacks, a member.
func memberGuard(kind string, p Partition, list, member string) []any {
	name, _, _ := strings.Cut(list, ":")
	return []any{kind, p.key(list), member, collections[typeOf(name)].read}
}

// attempts finds attempt counts of tasks that are done.
func (i *inspection) attempts(k storedKey) {
	counts, err := i.store.rdb.HGetAll(i.ctx, k.key()).Result()
	i.fail(err)
	for task, count := range counts {
		f := job.Finding{Problem: "attempts are counted for a finished task", Key: k.short(), Member: task}
		fix := func(c *commit) { c.do("HDEL", k.key(), task) }
		i.found(inspected{storedKey: k}, f, fix, []any{"is", k.key(), task, count}, memberGuard("lacks", k.partition, "outbox", task))
	}
}

// unknownOwners finds unknown nodes that own entries of a queue. They are recorded as silent, so that
// another node takes over their entries.
func (i *inspection) unknownOwners(k storedKey) {
	consumers, err := i.store.rdb.XInfoConsumers(i.ctx, k.key(), "workers").Result()
	i.fail(err)
	for _, owner := range slices.DeleteFunc(consumers, func(c redis.XInfoConsumer) bool { return c.Pending == 0 }) {
		f := job.Finding{Problem: "jobs are held by an unknown node", Key: k.short(), Member: owner.Name}
		fix := func(c *commit) { c.do("ZADD", c.key("nodes"), "NX", 0, owner.Name) }
		i.found(inspected{storedKey: storedKey{partition: limitsIn}}, f, fix, memberGuard("lacks", limitsIn, "nodes", owner.Name))
	}
}

// orphans finds data kept for jobs that are gone.
func (i *inspection) orphans(keys []storedKey) {
	records := make([]storedKey, len(keys))
	for n, k := range keys {
		id, _, _ := strings.Cut(k.rest, ":")
		records[n] = storedKey{k.partition, "job", id}
	}
	subjects := i.subjects(records)
	for n, k := range keys {
		if s := subjects[records[n]]; !s.exists {
			f, fix := job.Finding{Problem: "it is kept for a job that is gone", Key: k.short()}, func(c *commit) { c.do("DEL", k.key()) }
			i.found(s, f, fix, []any{"exists", k.key(), "", ""})
		}
	}
}
