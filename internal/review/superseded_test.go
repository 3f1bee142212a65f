package review_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
	"ringback/test/sample"
)

// pause calls a function before one of the calls of a store, as if the node had been
// suspended there.
type pause struct {
	// before counts down to that call; below zero, it is over.
	before int
	do     func()
}

func (p *pause) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (p *pause) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		p.count()
		return next(ctx, cmd)
	}
}

func (p *pause) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		p.count()
		return next(ctx, cmds)
	}
}

func (p *pause) count() {
	p.before--
	if p.before == -1 {
		p.do()
	}
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
	p := &pause{before: call, do: func() {
		lost, err := a.store.Lost(t.Context(), "n")
		if err != nil || len(lost) > 1 {
			t.Fatalf("the node has %v, %v", lost, err)
		}
		for _, taken := range lost {
			must.Get(a.jobs.LoseNode(t.Context(), taken))(t)
		}
		if call%2 == 0 { // otherwise no node has taken it yet
			a.takeAs("m")
		}
		then = a.stands(id)
	}}
	a.redis.Client.AddHook(p)
	if err := step.Run(t.Context()); err != nil && !errors.Is(err, lifecycle.ErrSuperseded) {
		t.Errorf("superseded before call %d, the step ends with %v", call, err)
	}
	if p.before >= 0 {
		return false
	}
	must.Equal(t, then, a.stands(id), "superseded before call", call, "the node has changed")
	return true
}

// takeAs starts the next waiting turn on a node.
func (a *team) takeAs(node string) {
	a.t.Helper()
	for p := range store.Partition(store.Partitions) {
		turn := must.Get((&storetest.Service{Store: a.store, Service: a.jobs}).Claim(a.t.Context(), p, lifecycle.Worker{Node: node}))(a.t)
		if turn != nil {
			return
		}
	}
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
