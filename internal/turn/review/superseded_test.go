package review_test

import (
	"errors"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
	"ringback/test/sample"
)

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
		lost, err := a.store.Lost(t.Context(), "n")
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
	a.redis.Client.AddHook(hook(func(_ func(error), do func() error) error {
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
