package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// usersOf returns n users of a partition.
func usersOf(s *storetest.Service, p store.Partition, n int) []string {
	var users []string
	for i := 0; len(users) < n; i++ {
		user := fmt.Sprint("user-", i)
		if store.PartitionOf(job.ID(s.NewID(job.JobIDs, user))) == p {
			users = append(users, user)
		}
	}
	return users
}

// queueOf is the queue, with nodes that take jobs from it and a model of it.
type queueOf struct {
	t     *testing.T
	s     *storetest.Service
	users []string
	keys  []string
	nodes []*store.Turns
	takes int
	// waits are the waiting jobs, ended the jobs that a person may retry.
	waits map[job.ID]*waiting
	ended []*waiting
}

// waiting is a job that waits for a worker.
type waiting struct {
	id       job.ID
	user     string
	key      string
	priority job.Priority
	resumes  bool
	created  time.Time
	// since is the number of takes before it was queued. alone is set if its user had no other job
	// of its key in the queue then.
	since int
	alone bool
}

// follows reports whether a job comes after another of the same user and key.
func (w *waiting) follows(other *waiting) bool {
	return w.user == other.user && w.key == other.key && w.priority == other.priority && w.resumes == other.resumes &&
		w.created.After(other.created)
}

func newQueue(t *testing.T, s *storetest.Service, users ...string) *queueOf {
	return &queueOf{t: t, s: s, users: users, keys: []string{""}, nodes: []*store.Turns{store.NewTurns()}, waits: map[job.ID]*waiting{}}
}

// queued notes that a job waits. The nodes learn of it, but not of what other nodes take.
func (q *queueOf) queued(w waiting) {
	q.t.Helper()
	w.alone, w.since = true, q.takes
	for _, other := range q.waits {
		w.alone = w.alone && (w.user != other.user || w.key != other.key)
	}
	for _, node := range q.nodes {
		node.Look(store.PartitionOf(w.id))
	}
	q.waits[w.id] = &w
}

func (q *queueOf) create(user, key string, priority job.Priority) job.ID {
	q.t.Helper()
	n := newJob(user)
	n.APIKey, n.Priority = key, priority
	j := must.Get(q.s.Start(q.t.Context(), n))(q.t)
	q.queued(waiting{id: j.ID, user: user, key: key, priority: priority, created: created(q.t, q.s, j.ID)})
	return j.ID
}

// take takes the next job on a node and compares it with the model; nil if none waits.
func (q *queueOf) take() (lifecycle.QueueEntry, *waiting) {
	q.t.Helper()
	taken, ok, err := q.s.Queue.Dequeue(q.t.Context(), q.nodes[q.takes%len(q.nodes)], "n")
	must.OK(q.t, err)
	if !ok {
		if len(q.waits) > 0 {
			q.t.Fatalf("nothing was taken, and %d jobs wait", len(q.waits))
		}
		return taken, nil
	}
	w := q.waits[taken.JobID]
	if w == nil || w.priority != taken.Priority {
		q.t.Fatalf("took %+v, which does not wait", taken)
	}
	delete(q.waits, taken.JobID)
	for _, other := range q.waits {
		if w.follows(other) {
			q.t.Errorf("%s was taken before an older job of its user", w.id)
		}
	}
	q.takes++
	if passed := q.takes - w.since; w.alone && passed > q.bound(w) {
		q.t.Errorf("a user's only job was taken after %d others, at most %d may go before it: %+v", passed, q.bound(w), w)
	}
	return taken, w
}

// bound returns the maximum number of takes until a user's only job is taken: in each round, each key has
// one turn for each user of this job's key. New jobs get one of four takes, and batch jobs one of eight.
func (q *queueOf) bound(w *waiting) int {
	takes := (len(q.users) + 1) * len(q.keys)
	if w.resumes {
		takes *= 2 // at least half, in fact three of four
	} else {
		takes *= 4
	}
	if w.priority == job.Batch {
		takes *= 8
	} else {
		takes *= 2
	}
	return takes * len(q.nodes)
}

// run takes the next job and ends it, or lets it ask a question that is answered at once.
func (q *queueOf) run(asks bool) {
	q.t.Helper()
	if asks {
		q.ask()()
		return
	}
	if w, end := q.start(); w != nil {
		q.cancel(w)
		q.do(q.s.EndTurn(q.t.Context(), end))
	}
}

// start takes the next job and starts its turn. It returns the turn's end; nil if no job waits.
func (q *queueOf) start() (*waiting, lifecycle.TurnEnd) {
	q.t.Helper()
	taken, w := q.take()
	if w == nil {
		return nil, lifecycle.TurnEnd{}
	}
	turn, err := q.s.StartTurn(q.t.Context(), lifecycle.Worker{Node: "n"}, taken)
	if err != nil || turn == nil {
		q.t.Fatalf("no turn was started: %v", err)
	}
	return w, lifecycle.TurnEnd{ID: w.id, Turn: turn.Job.Turn, Node: "n", Begun: true}
}

// ask takes the next job and lets it ask a question. The returned function answers it.
func (q *queueOf) ask() (answer func()) {
	q.t.Helper()
	ctx := q.t.Context()
	w, end := q.start()
	if w == nil {
		return func() {}
	}
	j, err := q.s.Get(ctx, w.id)
	q.do(j, err)
	_, asked, _, err := q.s.Ask(ctx, lifecycle.NewCheckpoint{
		RequestID: w.id, UserID: w.user, SessionID: j.SessionID, Type: job.InformationRequest, Message: "Which?",
		Chat: job.Text(job.FromAssistant, "Which?"), Digest: strconv.Itoa(end.Turn),
	})
	q.do(asked, err)
	q.do(q.s.EndTurn(ctx, end))
	j, err = q.s.Get(ctx, w.id)
	q.do(j, err)
	return func() {
		q.t.Helper()
		q.do(q.s.Answer(ctx, *j.Checkpoint, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Text: "This."}}))
		again := *w
		again.resumes = true
		q.queued(again)
	}
}

func (q *queueOf) do(_ any, err error) {
	q.t.Helper()
	must.OK(q.t, err)
}

func (q *queueOf) cancel(w *waiting) {
	q.t.Helper()
	q.do(nil, q.s.End(q.t.Context(), w.id, job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}))
	delete(q.waits, w.id)
	q.ended = append(q.ended, w)
}

// putBack takes the next job and puts it back, as a node does if it may not start the job.
func (q *queueOf) putBack() {
	q.t.Helper()
	if taken, w := q.take(); w != nil {
		q.do(nil, q.s.PutBack(q.t.Context(), taken))
		q.queued(*w)
	}
}

func (q *queueOf) retry(i int) {
	q.t.Helper()
	w := q.ended[i]
	q.do(nil, q.s.Retry(q.t.Context(), w.id))
	q.ended = slices.Delete(q.ended, i, i+1)
	for _, other := range q.waits {
		if other.user == w.user {
			other.alone = false // the retried job is older and precedes it
		}
	}
	again := *w
	again.resumes = false
	q.queued(again)
}

// TestQueueFollowsItsModel uses noisy users with many jobs and quiet ones with one at a time, of several keys
// and partitions, and two nodes; jobs are also cancelled and retried. Each waiting job is taken exactly once,
// a user's jobs in order, and a user's only job never waits long.
func TestQueueFollowsItsModel(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 1000}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		q := newQueue(t, s, append(usersOf(s, 3, 5), usersOf(s, 7, 2)...)...)
		q.keys, q.nodes = []string{"", "shop", "news"}, append(q.nodes, store.NewTurns())
		noisy, quiet := q.users[:3], q.users[3:]
		priorities := []job.Priority{job.Interactive, job.Interactive, job.Batch}
		r := rand.New(rand.NewPCG(1, 2))
		one := func(of []string) string { return of[r.IntN(len(of))] }
		for range 700 {
			switch r.IntN(10) {
			case 0, 1, 2:
				q.create(one(noisy), one(q.keys), priorities[r.IntN(len(priorities))])
			case 3:
				user := one(quiet)
				if !slices.ContainsFunc(slices.Collect(maps.Values(q.waits)), func(w *waiting) bool { return w.user == user }) {
					q.create(user, one(q.keys), priorities[r.IntN(len(priorities))])
				}
			case 4, 5, 6:
				q.run(r.IntN(3) > 0)
			case 7:
				q.putBack()
			case 8:
				for _, w := range q.waits { // any
					q.cancel(w)
					break
				}
			case 9:
				if len(q.ended) > 0 {
					if i := r.IntN(len(q.ended)); slices.Contains(noisy, q.ended[i].user) {
						q.retry(i)
					}
				}
			}
		}
		for len(q.waits) > 0 {
			q.run(false)
		}
		for range q.nodes {
			q.take() // nothing is left
			q.takes++
		}
		if left := keysOf(t, rdb, "*:line:*", "*:round:*", "*:payers:*"); len(left) > 0 {
			t.Errorf("of an empty queue this is left: %v", left)
		}
		must.OK(t, s.Inspect(t.Context(), s.Service, false, func(f job.Finding) { t.Errorf("found %+v", f) }))
	})
}

func created(t *testing.T, s *storetest.Service, id job.ID) time.Time {
	t.Helper()
	j := must.Get(s.Get(t.Context(), id))(t)
	return j.CreatedAt
}

func keysOf(t *testing.T, rdb redis.UniversalClient, patterns ...string) []string {
	t.Helper()
	var found []string
	for _, pattern := range patterns {
		keys := must.Get(rdb.Keys(t.Context(), pattern).Result())(t)
		found = append(found, keys...)
	}
	return found
}

// TestABacklogDelaysItsOwnUser queues many jobs of two users, and then one of a third.
func TestABacklogDelaysItsOwnUser(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		for _, backlog := range []int{5, 100} {
			q := newQueue(t, s, usersOf(s, 3, 3)...)
			for i := range 2 * backlog {
				q.create(q.users[i%2], "", job.Interactive)
			}
			q.take()
			only := q.create(q.users[2], "", job.Interactive)
			for q.waits[only] != nil {
				q.take()
			}
			if passed := q.takes - 1; passed > 3 {
				t.Errorf("behind %d jobs of each of two users, it was taken as number %d", backlog, passed)
			}
			for len(q.waits) > 0 {
				q.take()
			}
		}
	})
}

// TestNoLevelStarves keeps all levels full.
func TestNoLevelStarves(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 1000}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		q := newQueue(t, s, usersOf(s, 3, 2)...)
		const each, takes = 64, 64
		var answers []func()
		for _, priority := range []job.Priority{job.Interactive, job.Batch} {
			for range each {
				q.create(q.users[0], "", priority)
			}
			for range each {
				answers = append(answers, q.ask())
			}
		}
		for _, answer := range answers {
			answer()
		}
		for range each {
			q.create(q.users[0], "", job.Interactive)
			q.create(q.users[0], "", job.Batch)
		}
		counts := map[string]int{}
		for range takes {
			_, w := q.take()
			counts[fmt.Sprint(w.priority, " ", w.resumes)]++
		}
		want := map[string]int{"interactive true": 42, "interactive false": 14, "batch true": 6, "batch false": 2}
		must.Equal(t, want, counts, takes, "takes these were of each level")
	})
}
