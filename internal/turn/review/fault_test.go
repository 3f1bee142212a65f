package review_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/review"
	"ringback/test/must"
	"ringback/test/sample"
)

// away makes a store unreachable from one of its calls on: before the call has reached it,
// or after, so that only the response is lost.
type away struct {
	// after is the number of calls that still succeed.
	after    atomic.Int64
	answered bool
	// once is true if the store is available again for the next call.
	once bool
}

var errAway = errors.New("connection refused")

func (a *away) call(do func() error, _ ...redis.Cmder) error {
	left := a.after.Add(-1)
	if left >= 0 || a.once && left < -1 {
		return do()
	}
	if left == -1 && a.answered {
		_ = do()
	}
	return errAway
}

// A server dies, or loses its store, between any two calls of the store: the next start
// continues from the record, and everything is done exactly once.
func TestAStepThatIsCutOffAnywhereIsDoneAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(*team) job.ID
		check func(*testing.T, *team, job.ID)
	}{
		"a submission that is reviewed": {
			begin: func(all *team) job.ID {
				turn := all.begin("reviewed")
				all.work(turn, "new.txt", "new\n")
				return turn.Job.ID
			},
			check: func(t *testing.T, all *team, id job.ID) {
				t.Helper()
				if j := all.get(id); j.State != job.AwaitingApproval || all.asked(id) != 1 {
					t.Errorf("the job is %s, %d were asked", j.State, all.asked(id))
				}
				if diff, err := all.store.Changes.Diff(t.Context(), id); err != nil || !strings.Contains(string(diff), "new.txt") {
					t.Errorf("the diff is %s, %v", diff, err)
				}
			},
		},
		"a submission that nobody reviews": {
			begin: func(all *team) job.ID {
				turn := all.begin("unreviewed")
				all.work(turn, "new.txt", "new\n")
				return turn.Job.ID
			},
			check: published,
		},
		"a publication": {
			begin: func(all *team) job.ID {
				id := all.reviewed()
				all.decide(id, job.Approve, "")
				return id
			},
			check: published,
		},
	} {
		for how, answered := range map[string]bool{"before a call": false, "after a call": true} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				all := newTeam(t)
				store := &away{answered: answered}
				store.after.Store(1 << 40)
				all.redis.Client.AddHook(storetest.Hook(store.call))
				first, distance := sample.Every(t, 4)
				for calls, cutOff := int64(first), true; cutOff; calls += int64(distance) {
					id := c.begin(all)
					step := all.change(all.flow, all.get(id)).Next(all.answers(id))
					store.after.Store(calls)
					err := step.Run(t.Context())
					cutOff = store.after.Swap(1<<40) < 0
					if failed, ok := errors.AsType[*review.Error](err); err != nil && !ok || ok && !errors.Is(failed, errAway) {
						t.Errorf("cut off at call %d, it ended with %v", calls, err)
					}
					if step = all.change(all.flow, all.get(id)).Next(all.answers(id)); step != nil {
						all.run(step)
					}
					c.check(t, all, id)
					all.endTurn(id)
					if !cutOff && calls < 8 {
						t.Errorf("a step makes %d calls only", calls)
					}
				}
			})
		}
	}
}

// A node is lost between any two calls of the store, and with it all its files. Another one continues what
// is stored, without Claude, and nothing is published twice.
func TestAnotherMachineContinuesWhatALostNodeHasStored(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	store := &away{}
	store.after.Store(1 << 40)
	all.redis.Client.AddHook(storetest.Hook(store.call))
	first, distance := sample.Every(t, 3)
	phases := map[job.Phase]bool{}
	for calls, cutOff := int64(first), true; cutOff; calls += int64(distance) {
		turn := all.begin("unreviewed")
		id := turn.Job.ID
		c := all.work(turn, "new.txt", "new\n")
		store.after.Store(calls)
		_ = c.Next(nil).Run(t.Context())
		cutOff = store.after.Swap(1<<40) < 0
		j := all.get(id)
		if cutOff && j.State == job.Running {
			phases[j.Phase] = true
			all.lose("n")
			next := all.claim("other")
			step := all.change(all.node("other", t.TempDir(), slog.DiscardHandler), next.Job).Next(next.Answers)
			must.Equal(t, j.Captured, step != nil, "lost at call", calls, "the change is continued")
			if step == nil { // Claude makes it again
				must.OK(t, all.jobs.Cancel(t.Context(), id, job.Actor{}))
				continue
			}
			all.run(step)
			must.Equal(t, 1, all.get(id).ClaudeTurns, "lost at call", calls, "turns of Claude's")
		}
		published(t, all, id)
		_ = all.jobs.Cancel(t.Context(), id, job.Actor{})
	}
	for _, phase := range []job.Phase{job.Capturing, job.Publishing} {
		must.Equal(t, true, phases[phase], "a node was lost while", phase)
	}
}

// A short outage of the store does not fail a publication, and no person is asked a second
// time.
func TestAStoreThatIsAwayForAMomentIsNoFailure(t *testing.T) {
	t.Parallel()
	for how, answered := range map[string]bool{"before a call": false, "after a call": true} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			all := newTeam(t)
			store := &away{answered: answered, once: true}
			store.after.Store(1 << 40)
			all.redis.Client.AddHook(storetest.Hook(store.call))
			first, distance := sample.Every(t, 4)
			for calls, cutOff := int64(first), true; cutOff; calls += int64(distance) {
				id := all.reviewed()
				all.decide(id, job.Approve, "")
				step := all.change(all.flow, all.get(id)).Next(all.answers(id))
				store.after.Store(calls)
				for err := step.Run(t.Context()); err != nil; err = step.Run(t.Context()) { // like the node
					if e, ok := errors.AsType[*job.Error](err); !ok || e.Kind != job.Unavailable {
						t.Fatalf("away at call %d: %v", calls, err)
					}
				}
				cutOff = store.after.Swap(1<<40) < 0
				published(t, all, id)
				must.Equal(t, 1, all.asked(id), "away at call", calls, "a person was asked … times")
				all.endTurn(id)
			}
		})
	}
}

// published checks that a job is received, and its change was published once.
func published(t *testing.T, all *team, id job.ID) {
	t.Helper()
	if j := all.get(id); j.State != job.Received || !strings.Contains(string(j.Result), `"finalized"`) {
		t.Errorf("the job is %s with %s", j.State, j.Result)
	}
	must.Equal(t, "new", all.pushed(id, "new.txt"), "pushed was")
	must.Equal(t, "1", all.git(all.remote, "rev-list", "--count", "main..ringback/"+string(id)), "commits")
	must.Equal(t, 1, len(all.finished(id)), "the audit log has the publication … times")
}

// A node is suspended before any of its calls of the store, and another node takes over its
// turn: whatever the first does then has no effect. It stores nothing, asks no one, and
// pushes nothing.
func TestNothingOfASupersededTurnCounts(t *testing.T) {
	t.Parallel()
	for _, kindName := range []string{"reviewed", "unreviewed"} {
		t.Run(kindName, func(t *testing.T) {
			t.Parallel()
			first, distance := sample.Every(t, 3)
			for call := first; supersededAt(t, kindName, call); call += distance {
				if t.Failed() {
					return
				}
			}
		})
	}
}

// supersededAt tests one call; it returns false if the step makes fewer.
func supersededAt(t *testing.T, kindName string, call int) bool {
	t.Helper()
	a := newTeam(t)
	turn := a.begin(kindName)
	step := a.work(turn, "new.txt", "new\n").Next(nil)
	id := turn.Job.ID
	var then map[string]string
	takeOver := func() {
		lost, err := a.store.Nodes.Lost(t.Context(), "n")
		if err != nil || len(lost) > 1 {
			t.Fatalf("the node has %v, %v", lost, err)
		}
		for _, taken := range lost {
			must.Get(a.jobs.LoseNode(t.Context(), taken))(t)
		}
		if call%2 == 0 { // otherwise no node has taken it yet
			a.claim("m")
		}
		then = a.stands(id)
	}
	left := call
	a.redis.Client.AddHook(storetest.Hook(func(do func() error, _ ...redis.Cmder) error {
		if left--; left == -1 {
			takeOver()
		}
		return do()
	}))
	if err := step.Run(t.Context()); err != nil && !errors.Is(err, lifecycle.ErrSuperseded) {
		t.Errorf("superseded before call %d, the step ends with %v", call, err)
	}
	if left >= 0 {
		return false
	}
	must.Equal(t, then, a.stands(id), "superseded before call", call, "the node has changed")
	return true
}

// stands returns the state of a job's change.
func (a *team) stands(id job.ID) map[string]string {
	a.t.Helper()
	j := a.get(id)
	all := map[string]string{"state": string(j.State), "branches": a.git(a.remote, "branch", "--list")}
	if j.Checkpoint != nil {
		all["checkpoint"] = string(j.Checkpoint.ID)
	}
	keys := must.Get(a.redis.Client.Keys(a.t.Context(), "*change*"+string(id)+"*").Result())(a.t)
	for _, key := range keys {
		fields := must.Get(a.redis.Client.HGetAll(a.t.Context(), key).Result())(a.t)
		for name, value := range fields {
			all[key+" "+name] = strings.TrimSpace(value)
		}
	}
	return all
}
