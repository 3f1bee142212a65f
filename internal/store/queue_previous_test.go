package store_test

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

var (
	//go:embed lua/keys.lua
	keysLua string
	// The scripts of the version that knew no API keys.
	//go:embed testdata/previous-round.lua
	previousRound string
	//go:embed testdata/previous-dequeue.lua
	previousDequeue string
)

// previous is a server of the previous version beside one of this version.
type previous struct {
	*testing.T
	s   *storetest.Service
	rdb redis.UniversalClient
}

func (p *previous) run(script string, of store.Partition, args ...any) []string {
	p.Helper()
	prefix := fmt.Sprintf("rb:{%02x}", int(of))
	answer := must.Get(p.rdb.Eval(p.Context(), keysLua+previousRound+script, []string{prefix, "rb:{00}:clock"}, args...).Result())(p.T)
	var words []string
	if all, ok := answer.([]any); ok {
		for _, word := range all {
			words = append(words, fmt.Sprint(word))
		}
	}
	return words
}

// take takes a job as the previous version does; ok is false if none waits.
func (p *previous) take(of store.Partition) (taken lifecycle.QueueEntry, ok bool) {
	p.Helper()
	words := p.run(previousDequeue, of, "old", int64(1e13), "interactive", "interactive:resumed", "interactive", "interactive:new",
		"batch", "batch:resumed", "batch", "batch:new")
	if len(words) == 0 {
		return taken, false
	}
	return lifecycle.QueueEntry{JobID: job.ID(words[0]), Priority: job.Priority(words[1]), Entry: words[2]}, true
}

// enqueue queues a job, and puts back the entry that it had, as the previous version does.
func (p *previous) enqueue(j job.Job, priority job.Priority, entry string) {
	p.Helper()
	level := 1
	if priority == job.Batch {
		level = 3
	}
	p.run(`
		redis.call('XACK', P .. ':queue:' .. ARGV[3], 'workers', ARGV[4])
		redis.call('XDEL', P .. ':queue:' .. ARGV[3], ARGV[4])
		redis.call('ZADD', P .. ':line:' .. ARGV[1], ARGV[5], ARGV[2])
		redis.call('ZADD', P .. ':queued:' .. ARGV[3], 1, ARGV[2])
		local round = P .. ':round:' .. ARGV[3] .. ':new'
		if not redis.call('ZSCORE', round, ARGV[1]) then last(round, ARGV[1]) end
		redis.call('PUBLISH', P .. ':wake', ARGV[3])
		return {}`,
		store.PartitionOf(j.ID), j.UserID, string(j.ID), string(priority), entry, int64(level)*1e13+j.CreatedAt.UnixMilli())
}

// During a rolling restart, servers of two versions use one queue: each takes what the other has queued, each
// job runs once, and nothing is left.
func TestThePreviousVersionSharesTheQueue(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 1000}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		old, r := &previous{t, s, rdb}, rand.New(rand.NewPCG(3, 4))
		users, keys := usersOf(s, 3, 4), []string{"", "shop", "news"}
		node, waits, ran := store.NewTurns(), map[job.ID]bool{}, map[job.ID]int{}
		take := func(byOld bool) bool {
			worker := "old"
			taken, ok := lifecycle.QueueEntry{}, false
			if byOld {
				taken, ok = old.take(3)
			} else {
				worker = "n"
				node.Look(3)
				var err error
				taken, ok, err = s.Store.Dequeue(t.Context(), node, worker)
				must.OK(t, err)
			}
			if !ok {
				return false
			}
			j := must.Get(s.Get(t.Context(), taken.JobID))(t)
			switch {
			case r.IntN(4) == 0 && !j.State.Terminal() && byOld:
				old.enqueue(j, taken.Priority, taken.Entry)
			case r.IntN(4) == 0 && !byOld:
				must.OK(t, s.PutBack(t.Context(), taken))
			default:
				if turn := must.Get(s.StartTurn(t.Context(), lifecycle.Worker{Node: worker}, taken))(t); turn != nil {
					ran[taken.JobID]++
					must.Get(s.Accept(t.Context(), taken.JobID, lifecycle.Submission{Digest: "d", Result: []byte(`{}`)}))(t)
					must.Get(s.EndTurn(t.Context(), lifecycle.TurnEnd{ID: j.ID, Turn: turn.Job.Turn, Node: worker, Begun: true}))(t)
				}
			}
			return true
		}
		for range 400 {
			n := newJob(users[r.IntN(len(users))])
			n.APIKey = keys[r.IntN(len(keys))]
			if r.IntN(2) == 0 {
				n.Priority = job.Batch
			}
			j := must.Get(s.Start(t.Context(), n))(t)
			waits[j.ID] = true
			if r.IntN(10) == 0 { // the previous version leaves its place in a key's line
				must.OK(t, s.Cancel(t.Context(), j.ID, job.Actor{}))
				delete(waits, j.ID)
				if n.APIKey != "" {
					line := "rb:{03}:line:ringback:key:" + n.APIKey + ":" + n.UserID
					must.OK(t, rdb.ZAdd(t.Context(), line, redis.Z{Score: 1e13, Member: string(j.ID)}).Err())
				}
			}
			take(r.IntN(2) == 0)
		}
		for i := 0; take(i%2 == 0) || take(i%2 == 1); i++ {
		}
		for id := range waits {
			must.Equal(t, 1, ran[id], id, "ran so often")
		}
		must.Equal(t, len(waits), len(ran), "jobs ran")
		if left := keysOf(t, rdb, "*:line:*", "*:queued:*", "*:round:*", "*:payers:*"); len(left) > 0 {
			t.Errorf("of an empty queue this is left: %v", left)
		}
	})
}

// What only one version has queued is taken by the other.
func TestEachVersionTakesTheOthersJobs(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		old, user := &previous{t, s, rdb}, usersOf(s, 3, 1)[0]
		for _, key := range []string{"", "shop"} {
			for _, priority := range []job.Priority{job.Interactive, job.Batch} {
				n := newJob(user)
				n.APIKey, n.Priority = key, priority
				j := must.Get(s.Start(t.Context(), n))(t)
				taken, _ := old.take(3)
				must.Equal(t, j.ID, taken.JobID, "the previous version took")
				j = must.Get(s.Get(t.Context(), j.ID))(t)
				old.enqueue(j, priority, taken.Entry)
				must.OK(t, s.Inspect(t.Context(), s.Service, false, func(f job.Finding) { t.Errorf("found %+v", f) }))
				again, _, err := s.Dequeue(t.Context(), 3, "n")
				must.OK(t, err)
				must.Equal(t, j.ID, again.JobID, "this version took")
				must.Equal(t, priority, again.Priority, "its priority")
				old.enqueue(j, priority, again.Entry)
				must.OK(t, s.Cancel(t.Context(), j.ID, job.Actor{}))
				must.Equal(t, 0, len(keysOf(t, rdb, "*:line:*")), "lines are left")
			}
		}
		// What the previous version has left of a key's line, it still finds after this one has looked.
		other := must.Get(s.Start(t.Context(), newJob(usersOf(s, 3, 2)[1])))(t)
		for range 2 {
			n := newJob(user)
			n.APIKey = "shop"
			must.Get(s.Start(t.Context(), n))(t)
		}
		first, _ := old.take(3)
		taken, _, err := s.Dequeue(t.Context(), 3, "n")
		must.OK(t, err)
		must.Equal(t, other.ID, taken.JobID, "this version took")
		if second, ok := old.take(3); !ok || second.JobID == first.JobID {
			t.Errorf("the previous version took %q after %q", second.JobID, first.JobID)
		}
	})
}
