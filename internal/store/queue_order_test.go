package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// company makes jobs wait that sentences describe: "ann", "ann batch", "ann answered", "ann by shop", and
// takes them. Each person is in another partition.
type company struct {
	*queueOf
	partition map[string]store.Partition
	person    map[string]string // by user
}

func (c *company) user(name string) string {
	p, known := c.partition[name]
	if !known {
		p = store.Partition(len(c.partition) * 5 % store.Partitions)
		c.partition[name] = p
	}
	user := usersOf(c.s, p, 1)[0]
	c.person[user] = name
	return user
}

// wait makes jobs wait, in this order.
func (c *company) wait(sentences string) {
	c.t.Helper()
	all := strings.Split(sentences, ", ")
	later := make([]func(), len(all))
	asked := func(words string) bool { return strings.HasSuffix(words, " answered") }
	for _, first := range []bool{true, false} { // a job must run before it is answered
		for i, words := range all {
			if first != asked(words) {
				continue
			}
			who, priority := strings.TrimSuffix(words, " answered"), job.Interactive
			if rest, ok := strings.CutSuffix(who, " batch"); ok {
				who, priority = rest, job.Batch
			}
			name, key, _ := strings.Cut(who, " by ")
			if later[i] = func() { c.create(c.user(name), key, priority) }; first {
				later[i]()
				later[i] = c.ask()
			}
		}
	}
	for _, do := range later {
		do()
	}
}

// order takes all jobs and returns their users.
func (c *company) order() string {
	c.t.Helper()
	var all []string
	for {
		_, w := c.take()
		if w == nil {
			return strings.Join(all, ", ")
		}
		who := c.person[w.user]
		if w.key != "" {
			who += " by " + w.key
		}
		all = append(all, who)
	}
}

func times(n int, words string) string {
	return strings.TrimSuffix(strings.Repeat(words+", ", n), ", ")
}

func TestWhoIsNext(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 1000}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		for name, c := range map[string]struct{ waits, order string }{
			"an interactive job goes before batch jobs of all partitions": {
				"ann batch, bob batch, cid batch, dan", "dan, ann, bob, cid",
			},
			"users take turns, in whatever partition": {
				"ann, ann, ann, bob, cid", "ann, bob, cid, ann, ann",
			},
			"API keys take turns, however many users one names": {
				"ann by shop, bob by shop, cid by shop, dan by news", "ann by shop, dan by news, bob by shop, cid by shop",
			},
			"an API key with another's user takes turns with it, too": {
				"ann by shop, ann by shop, ann by shop, ann by news", "ann by shop, ann by news, ann by shop, ann by shop",
			},
			"all users without an API key count as one key": {
				"ann, bob, cid, dan by shop, dan by shop", "ann, dan by shop, bob, dan by shop, cid",
			},
			"users of an API key take turns": {
				"ann by shop, ann by shop, bob by shop", "ann by shop, bob by shop, ann by shop",
			},
			"an answered job goes before new ones": {
				"ann by shop, bob by shop, cid answered", "cid, ann by shop, bob by shop",
			},
			"an answered batch job goes before new batch jobs only": {
				"ann batch, bob batch answered, cid", "cid, bob, ann",
			},
			"API keys take turns with answered jobs, too": {
				"ann by shop answered, bob by shop answered, cid answered, dan", "ann by shop, cid, bob by shop, dan",
			},
			"one of eight takes is a batch job's": {
				times(16, "ann") + ", bob batch, bob batch", times(7, "ann") + ", bob, " + times(7, "ann") + ", bob, ann, ann",
			},
			"one of four takes is a new job's": {
				times(6, "ann answered") + ", bob, bob", "ann, ann, ann, bob, ann, ann, ann, bob",
			},
			"batch jobs take turns as others do": {
				"ann by shop batch, bob by shop batch, cid by news batch", "ann by shop, cid by news, bob by shop",
			},
		} {
			t.Log(name)
			q := &company{newQueue(t, s), map[string]store.Partition{}, map[string]string{}}
			q.keys, q.users = make([]string, 3), make([]string, 4)
			q.wait(c.waits)
			must.Equal(t, c.order, q.order(), name)
		}
	})
}

// Each key has its turn, also if there are more than a partition lists at once.
func TestManyKeysTakeTurns(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 1000}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		const keys, each = 80, 3
		q := newQueue(t, s, usersOf(s, 3, 1)...)
		for k := range keys {
			q.keys = append(q.keys, fmt.Sprint("key-", k))
		}
		for range each {
			for _, key := range q.keys {
				q.create(q.users[0], key, job.Interactive)
			}
		}
		for range each {
			seen := map[string]bool{}
			for range q.keys {
				_, w := q.take()
				if seen[w.key] {
					t.Fatalf("%q had two turns before others had one", w.key)
				}
				seen[w.key] = true
			}
		}
	})
}

// A key that comes, or comes again, joins the round of those that wait: a partition does not list it instead of them.
func TestAKeyThatComesLaterIsListedLater(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 1000}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		const some, listed = 40, 32
		q := newQueue(t, s, usersOf(s, 3, 1)...)
		q.keys = make([]string, 2*some) // the bound of a wait goes by their number
		come := func(name string) {
			for k := range some {
				q.create(q.users[0], fmt.Sprint(name, "-", k), job.Interactive)
			}
		}
		come("early") // before the others also by name, which decides within a millisecond
		come("early")
		for range some {
			q.take()
		}
		come("later")
		for i := range some - listed {
			if _, w := q.take(); strings.HasPrefix(w.key, "later") {
				t.Fatalf("%s was served while %d others have waited for longer", w.key, some-i)
			}
		}
	})
}

// A user keeps the turn if the job is put back.
func TestAJobThatIsPutBackIsNextAgain(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "shop"} {
		storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
			q := newQueue(t, s, usersOf(s, 3, 3)...)
			for range 2 {
				for _, user := range q.users {
					q.create(user, key, job.Interactive)
				}
			}
			for range 2 {
				q.putBack()
			}
			if _, w := q.take(); w.user != q.users[0] {
				t.Errorf("next is %s", w.user)
			}
		})
	}
}

// What no rule leaves behind: a job of a key that no node would find. The examination mends it.
func TestAKeysJobThatNoNodeFindsIsMended(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		q := newQueue(t, s, usersOf(s, 3, 1)...)
		must.Get(s.Nodes.Heartbeat(t.Context(), "n", "", ""))(t)
		for lost, problem := range map[string]string{
			"line:ringback:key:shop:" + q.users[0]: "a job waits for a worker and is not in the queue",
			"round:interactive:new:shop":           "a user with waiting jobs is not in line",
			"payers:interactive:new":               "a user with waiting jobs is not in line",
		} {
			id := q.create(q.users[0], "shop", job.Interactive)
			must.OK(t, rdb.Del(t.Context(), "rb:{03}:"+lost).Err())
			var found []string
			must.OK(t, s.Inspect(t.Context(), s.Service, true, func(f job.Finding) { found = append(found, f.Problem) }))
			must.Equal(t, []string{problem}, found, lost)
			if w, end := q.start(); w == nil || w.id != id {
				t.Errorf("%s: the job was not taken", lost)
			} else {
				q.cancel(w)
				q.do(s.EndTurn(t.Context(), end))
			}
		}
		must.OK(t, s.Inspect(t.Context(), s.Service, false, func(f job.Finding) { t.Errorf("found %+v", f) }))
	})
}
