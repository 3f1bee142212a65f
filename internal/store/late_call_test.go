package store_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// beforeCommit does something once, before the next script runs.
type beforeCommit struct{ do func() }

func (*beforeCommit) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*beforeCommit) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (b *beforeCommit) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if do := b.do; do != nil && cmd.Name() == "evalsha" {
			b.do = nil
			do()
		}
		return next(ctx, cmd)
	}
}

// What the process of an earlier turn sends while the next turn starts does not count as that turn's: a start that
// hangs would not be noticed.
func TestACallOfTheTurnBeforeIsNotOfTheNext(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(ctx context.Context, s *storetest.Service, id job.ID, h store.JobHeader) error{
		"a progress report": func(ctx context.Context, s *storetest.Service, id job.ID, h store.JobHeader) error {
			_, err := s.Calls.Progress(ctx, id, h, json.RawMessage(`{}`), "late")
			return err
		},
		"a step": func(ctx context.Context, s *storetest.Service, id job.ID, _ store.JobHeader) error {
			_, _, err := s.Calls.Step(ctx, id, 3)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, embedded := storetest.InProcess(t, store.Options{})
			s := &storetest.Service{Store: db, Service: lifecycle.New(db, nil, lifecycle.Options{})}
			ctx := t.Context()
			n := newJob("u")
			n.MaxAttempts = 3
			id := must.Get(s.Start(ctx, n))(t).ID
			s.Next(t, "n")
			h, _, _, err := s.Calls.Header(ctx, id)
			must.OK(t, err)
			end := lifecycle.TurnEnd{ID: id, Turn: 1, Node: "n", Again: true, Begun: true, Code: job.CodeCrashed}
			must.Get(s.EndTurn(ctx, end))(t)
			fireUntil(t, s, store.PartitionOf(id), id)
			hook := &beforeCommit{}
			embedded.Client.AddHook(hook)
			taken, ok, err := s.Dequeue(ctx, store.PartitionOf(id), "n")
			must.OK(t, err)
			must.Equal(t, true, ok)
			var failed error
			hook.do = func() { failed = call(ctx, s, id, h) }
			must.Get(s.StartTurn(ctx, lifecycle.Worker{Node: "n"}, taken))(t)
			must.OK(t, failed)
			must.Equal(t, true, hook.do == nil, "it was called")
			must.Equal(t, false, must.Get(s.HasCalledBack(ctx, id))(t), "the new turn has called back")
			total, _, err := s.Calls.Step(ctx, id, 0)
			must.OK(t, err)
			must.Equal(t, 0, total, "its tool calls")
		})
	}
}
