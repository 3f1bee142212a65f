package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// A message is accepted while the task runs that starts a job for an earlier one: the task runs again.
func TestATaskThatIsAddedWhileItRunsRunsAgain(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		ctx, n := t.Context(), newJob("u")
		n.SessionID = "chat"
		id := must.Get(s.Start(ctx, n))(t).ID
		p := store.PartitionOf(id)
		must.OK(t, s.Cancel(ctx, id, job.Actor{}))
		say := func(text string) { must.Get(s.AppendMessage(ctx, "u", "chat", job.Text(job.FromUser, text), true))(t) }
		lease := func() []store.Task {
			tasks, _, err := s.LeaseTasks(ctx, p, time.Minute, 16)
			must.OK(t, err)
			return tasks
		}
		say("one")
		first := lease()
		must.Equal(t, 1, len(first), "tasks for the first message")
		must.Equal(t, 0, len(lease()), "tasks while it runs")
		say("two")
		must.OK(t, s.FinishTask(ctx, p, first[0]))
		second := lease()
		if len(second) != 1 || second[0].Attempt != 1 {
			t.Fatalf("after the second message, these run: %+v", second)
		}
		must.OK(t, s.FinishTask(ctx, p, first[0])) // again: its answer was lost
		must.OK(t, s.FinishTask(ctx, p, second[0]))
		must.Equal(t, 0, len(lease()), "tasks at the end")
		if unknown, err := s.Unknown(ctx); err != nil || len(unknown) > 0 {
			t.Errorf("keys that no list names: %v, %v", slices.Clip(unknown), err)
		}
	})
}
