package store_test

import (
	"fmt"
	"slices"
	"strings"
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

// However many notices wait for a receiver, one that it accepts makes a limited number of them due, and the
// next ones the rest.
func TestLateNoticesBecomeDueInPortions(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		const notices, hour = 450, time.Hour
		for i := range notices {
			member := fmt.Sprintf("webhook|ended|req_00_%026d|1", i)
			must.OK(t, rdb.ZAdd(ctx, "rb:{00}:outbox", redis.Z{Score: 1, Member: member}).Err())
			must.OK(t, rdb.ZAdd(ctx, "rb:{00}:notices:webhook", redis.Z{Score: float64(time.Now().UnixMilli()), Member: member}).Err())
			task := store.Task{Kind: lifecycle.TaskWebhook, Ref: strings.TrimPrefix(member, "webhook|")}
			must.OK(t, s.DelayNotice(ctx, 0, task, []string{"webhook", "other.example"}[i%9/8], "busy", hour))
		}
		due := func() int {
			tasks, _, err := s.LeaseTasks(ctx, 0, hour, notices)
			must.OK(t, err)
			return len(tasks)
		}
		must.Equal(t, 0, due(), "notices are due before any is accepted")
		for _, want := range []int{200, 200, 0} { // of another receiver are 50
			must.OK(t, s.NoticeAccepted(ctx, "webhook"))
			must.Equal(t, want, due(), "notices are due after one more was accepted")
		}
		if left := rdb.Exists(ctx, "rb:{00}:late:webhook").Val(); left != 0 {
			t.Error("the receiver has late notices still")
		}
		must.Equal(t, int64(50), rdb.ZCard(ctx, "rb:{00}:late:other.example").Val(), "late notices of the other receiver")
	})
}
