package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

func isNil(err error) bool { return errors.Is(err, redis.Nil) }

func ignoreNil(err error) error {
	if isNil(err) {
		return nil
	}
	return err
}

// members checks whether what a list, set or hash names belongs there.
func (i *inspection) members(k storedKey) error {
	var cursor uint64
	for {
		members, next, err := i.scan(k, cursor)
		if err != nil {
			return storeError(err)
		}
		if err := i.misplaced(k, members); err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// member is a member of a list, set or hash: its name there, and the ID that it refers to.
type member struct{ name, id string }

func (i *inspection) scan(k storedKey, cursor uint64) ([]member, uint64, error) {
	var texts []string
	var next uint64
	var err error
	step := 2 // every second text is a score or value
	switch typeOf(k) {
	case "set":
		texts, next, err = i.store.rdb.SScan(i.ctx, k.key(), cursor, "", inspectPage).Result()
		step = 1
	case "hash":
		texts, next, err = i.store.rdb.HScan(i.ctx, k.key(), cursor, "", inspectPage).Result()
	default:
		texts, next, err = i.store.rdb.ZScan(i.ctx, k.key(), cursor, "", inspectPage).Result()
	}
	var members []member
	for n := 0; n+step-1 < len(texts); n += step {
		m := member{texts[n], texts[n]}
		switch k.name {
		case "idempotency":
			m.id = texts[n+1]
		case "standing":
			var a job.Approval
			if err := json.Unmarshal([]byte(texts[n+1]), &a); err != nil {
				return nil, 0, fmt.Errorf("%s %s: %w", k.key(), m.name, err)
			}
			if m.id = string(a.RequestID); m.id == "" { // it applies to all jobs of its kind
				continue
			}
		}
		members = append(members, m)
	}
	return members, next, err
}

// misplaced finds the members that do not belong.
func (i *inspection) misplaced(k storedKey, members []member) error {
	switch k.name {
	case "acting":
		return i.runs(k, members)
	case "attempts":
		return i.attempts(k, members)
	}
	var jobs, checkpoints []member
	for _, m := range members {
		if strings.HasPrefix(m.id, "chk_") {
			checkpoints = append(checkpoints, m)
		} else {
			jobs = append(jobs, m)
		}
	}
	if err := i.misplacedCheckpoints(k, checkpoints); err != nil {
		return err
	}
	ids := make([]string, len(jobs))
	for n, m := range jobs {
		ids[n] = m.id
	}
	records, err := i.records(ids)
	if err != nil {
		return err
	}
	for _, m := range jobs {
		r, there := records[m.id]
		if there && belongs(k, r) {
			if k.name == "waiting" {
				i.waits(r)
			}
			continue
		}
		f := i.removal(k, m, there)
		f.RequestID, f.guards = job.ID(m.id), unchanged(k.partition, m.id, r)
		if err := i.found(f); err != nil {
			return err
		}
	}
	return nil
}

// waits records one waiting job for each user.
func (i *inspection) waits(r lifecycle.Record) {
	if i.waitingUsers == nil {
		i.waitingUsers = map[string]bool{}
	}
	if !i.waitingUsers[r.UserID] {
		i.waitingUsers[r.UserID] = true
		i.unjudged.Waiting = append(i.unjudged.Waiting, r.ID)
	}
}

// belongs reports whether a job belongs in a list, set or hash.
func belongs(k storedKey, r lifecycle.Record) bool {
	switch k.name {
	case "running":
		return r.Owner != "" && r.UserID == k.rest
	case "kind-jobs":
		return slices.Contains(r.KindVersions(), k.rest)
	case "waiting":
		return r.Phase == job.WaitingForLimit && r.PhaseUntil.IsZero() && r.UserID == k.rest
	case "line":
		return r.IsQueued() && r.UserID == k.rest
	case "queued":
		return r.IsQueued() && string(r.Priority) == k.rest
	case "idempotency":
		return true
	case "standing":
		return !r.State.Terminal()
	case "ids":
		return len(jobLists(r)) > 0
	default:
		return slices.Contains(jobLists(r), k.short())
	}
}

func (i *inspection) removal(k storedKey, m member, there bool) finding {
	f := finding{Finding: job.Finding{Problem: "it names a job that is gone", Key: k.short(), Member: m.name}, partition: k.partition}
	if there {
		f.Problem = map[string]string{
			"running": "a worker is counted that no turn holds", "waiting": "a job is kept waiting that does not wait",
			"line":     "a job is queued that does not wait for a worker",
			"standing": "an approval is kept for a job that has ended",
		}[k.name]
	}
	f.Problem = cmp.Or(f.Problem, "it does not belong into the list")
	remove := map[string]string{"set": "SREM", "hash": "HDEL", "zset": "ZREM"}[typeOf(k)]
	f.still, f.fix = func() (bool, error) { return i.contains(k, m) }, [][]any{{remove, k.key(), m.name}}
	if k.name == "kind-jobs" {
		f.unused = [][]any{{k.key(), k.partition.key("kind", k.rest)}}
	}
	return f
}

// typeOf returns Redis' name for the type of a list, set or hash with members.
func typeOf(k storedKey) string {
	switch k.name {
	case "running", "kind-jobs":
		return "set"
	case "idempotency", "standing", "attempts":
		return "hash"
	}
	return "zset"
}

// contains reports whether a list, set or hash still has a member.
func (i *inspection) contains(k storedKey, m member) (found bool, err error) {
	switch typeOf(k) {
	case "set":
		return i.store.rdb.SIsMember(i.ctx, k.key(), m.name).Result()
	case "hash":
		value, err := i.store.rdb.HGet(i.ctx, k.key(), m.name).Result()
		return err == nil && (k.name != "idempotency" || value == m.id), ignoreNil(err)
	}
	err = i.store.rdb.ZScore(i.ctx, k.key(), m.name).Err()
	return err == nil, ignoreNil(err)
}

func (i *inspection) misplacedCheckpoints(k storedKey, members []member) error {
	pipe := i.store.rdb.Pipeline()
	reads := make([]*redis.SliceCmd, len(members))
	for n, m := range members {
		reads[n] = pipe.HMGet(i.ctx, k.partition.key("checkpoint", m.id), "version", "status", "type", "user")
	}
	if len(members) == 0 {
		return nil
	}
	if _, err := pipe.Exec(i.ctx); err != nil {
		return storeError(err)
	}
	for n, m := range members {
		h := hashOf([]string{"version", "status", "type", "user"}, reads[n].Val())
		c := lifecycle.Checkpoint{Status: job.CheckpointStatus(h["status"]), Type: job.CheckpointType(h["type"]), UserID: h["user"]}
		if lists := checkpointLists(c); k.name == "ids" && lists != nil || slices.Contains(lists, k.short()) {
			continue
		}
		f := i.removal(k, m, true)
		f.guards = [][]any{{"is", k.partition.key("checkpoint", m.id), "version", h["version"]}, {"is", k.partition.key("checkpoint", m.id), "status", h["status"]}}
		if err := i.found(f); err != nil {
			return err
		}
	}
	return nil
}

// attempts finds attempt counts of tasks that are done.
func (i *inspection) attempts(k storedKey, members []member) error {
	for _, m := range members {
		isDone := func() (bool, error) {
			err := i.store.rdb.ZScore(i.ctx, k.partition.key("outbox"), m.name).Err()
			return isNil(err), ignoreNil(err)
		}
		err := i.found(finding{
			Finding: job.Finding{Problem: "tries are counted of a task that is done", Key: k.short(), Member: m.name}, partition: k.partition,
			fix: [][]any{{"HDEL", k.key(), m.name}}, still: isDone,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// runs finds runs of actions that have a lease but are not running.
func (i *inspection) runs(k storedKey, members []member) error {
	pipe := i.store.rdb.Pipeline()
	states := make([]*redis.StringCmd, len(members))
	for n, m := range members {
		states[n] = pipe.HGet(i.ctx, k.partition.key("action", m.id), "state")
	}
	if len(members) == 0 {
		return nil
	}
	if _, err := pipe.Exec(i.ctx); err != nil && !isNil(err) {
		return storeError(err)
	}
	for n, m := range members {
		state := states[n].Val()
		if state == string(lifecycle.RunRunning) {
			continue
		}
		err := i.found(finding{
			Finding: job.Finding{Problem: "a run of an action is watched that does not run", Key: k.short(), Member: m.name}, partition: k.partition,
			guards: [][]any{{"is", k.partition.key("action", m.id), "state", state}}, fix: [][]any{{"ZREM", k.key(), m.name}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unknownOwners finds unknown nodes that own entries of a queue. They are recorded as silent, so that
// another node takes over their entries.
func (i *inspection) unknownOwners(k storedKey) error {
	consumers, err := i.store.rdb.XInfoConsumers(i.ctx, k.key(), "workers").Result()
	if err != nil {
		return storeError(err)
	}
	nodes := Partition(0).key("nodes")
	for _, c := range consumers {
		if c.Pending == 0 {
			continue
		}
		unknown := func() (bool, error) {
			err := i.store.rdb.ZScore(i.ctx, nodes, c.Name).Err()
			return isNil(err), ignoreNil(err)
		}
		err := i.found(finding{
			Finding: job.Finding{Problem: "jobs are held by an unknown node", Key: k.short(), Member: c.Name},
			fix:     [][]any{{"ZADD", nodes, "NX", 0, c.Name}}, still: unknown,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
