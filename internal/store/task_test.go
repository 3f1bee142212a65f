package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
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
		say := func(text string) {
			must.Get(s.AppendMessage(ctx, "u", "chat", job.Text(job.FromUser, text), new(lifecycle.Addressee)))(t)
		}
		lease := func() []store.Task {
			tasks, _, err := s.Tasks.LeaseTasks(ctx, p, time.Minute, time.Minute, 16)
			must.OK(t, err)
			return tasks
		}
		say("one")
		first := lease()
		must.Equal(t, 1, len(first), "tasks for the first message")
		must.Equal(t, 0, len(lease()), "tasks while it runs")
		say("two")
		must.OK(t, s.Tasks.FinishTask(ctx, p, first[0]))
		second := lease()
		if len(second) != 1 || second[0].Attempt != 1 {
			t.Fatalf("after the second message, these run: %+v", second)
		}
		must.OK(t, s.Tasks.FinishTask(ctx, p, first[0])) // again: its answer was lost
		must.OK(t, s.Tasks.FinishTask(ctx, p, second[0]))
		must.Equal(t, 0, len(lease()), "tasks at the end")
		if unknown, err := s.Unknown(ctx); err != nil || len(unknown) > 0 {
			t.Errorf("keys that no list names: %v, %v", slices.Clip(unknown), err)
		}
	})
}

// An attempt that postpones its task moves that lease only, not what the task has become since.
func TestAnAttemptPostponesOnlyItsOwnLease(t *testing.T) {
	t.Parallel()
	const lease = time.Minute
	outbox := "rb:{00}:outbox"
	leaseOne := func(t *testing.T, s *storetest.Service, own time.Duration) store.Task {
		t.Helper()
		tasks, _, err := s.Tasks.LeaseTasks(t.Context(), 0, own, 3*lease, 16)
		if err != nil || len(tasks) != 1 {
			t.Fatalf("leased %v, %v; want one task", tasks, err)
		}
		return tasks[0]
	}
	for _, c := range []struct {
		name, task string
		// then happens while the task runs.
		then func(*testing.T, *storetest.Service, redis.UniversalClient, store.Task)
		// least and most are the limits of the time until it is due, once it was postponed for an hour.
		least, most time.Duration
	}{
		{
			"nothing has happened to it", "continue|req_00_x",
			func(*testing.T, *storetest.Service, redis.UniversalClient, store.Task) {}, 59 * time.Minute, time.Hour,
		},
		{
			"a notice, which has a longer lease", "webhook|ended|req_00_x|1",
			func(*testing.T, *storetest.Service, redis.UniversalClient, store.Task) {}, 59 * time.Minute, time.Hour,
		},
		{
			"it was added again", "continue|req_00_x",
			func(t *testing.T, _ *storetest.Service, rdb redis.UniversalClient, task store.Task) {
				t.Helper()
				must.OK(t, rdb.ZAdd(t.Context(), outbox, redis.Z{Score: 1, Member: string(task.Kind) + "|" + task.Ref}).Err())
			}, -1 << 62, 0,
		},
		{
			"its lease has ended, and another node has it", "continue|req_00_x",
			func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, task store.Task) {
				t.Helper()
				must.OK(t, rdb.ZAdd(t.Context(), outbox, redis.Z{Score: 1, Member: string(task.Kind) + "|" + task.Ref}).Err())
				leaseOne(t, s, 2*lease)
			}, lease, 2 * lease,
		},
		{
			"another node has finished it", "continue|req_00_x",
			func(t *testing.T, s *storetest.Service, _ redis.UniversalClient, task store.Task) {
				t.Helper()
				must.OK(t, s.Tasks.FinishTask(t.Context(), 0, task))
			}, -1 << 62, -1 << 61,
		},
	} {
		storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
			ctx := t.Context()
			must.OK(t, rdb.ZAdd(ctx, outbox, redis.Z{Score: 1, Member: c.task}).Err())
			if strings.HasPrefix(c.task, "webhook") {
				must.OK(t, rdb.HSet(ctx, "rb:{00}:notice:"+c.task, "at", 1).Err())
			}
			first := leaseOne(t, s, lease)
			c.then(t, s, rdb, first)
			must.OK(t, s.Tasks.PostponeTask(ctx, 0, first, time.Hour))
			in := time.Duration(-1 << 62)
			if due, err := rdb.ZScore(ctx, outbox, c.task).Result(); err == nil {
				in = time.Until(time.UnixMilli(int64(due)))
			}
			if in < c.least || in > c.most {
				t.Errorf("%s: it is due in %s, want %s to %s", c.name, in, c.least, c.most)
			}
		})
	}
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
			must.OK(t, s.Tasks.DelayNotice(ctx, 0, task, []string{"webhook", "other.example"}[i%9/8], "busy", hour))
		}
		due := func() int {
			tasks, _, err := s.Tasks.LeaseTasks(ctx, 0, hour, hour, notices)
			must.OK(t, err)
			return len(tasks)
		}
		must.Equal(t, 0, due(), "notices are due before any is accepted")
		for _, want := range []int{200, 200, 0} { // of another receiver are 50
			must.OK(t, s.Tasks.NoticeAccepted(ctx, "webhook"))
			must.Equal(t, want, due(), "notices are due after one more was accepted")
		}
		if left := rdb.Exists(ctx, "rb:{00}:late:webhook").Val(); left != 0 {
			t.Error("the receiver has late notices still")
		}
		must.Equal(t, int64(50), rdb.ZCard(ctx, "rb:{00}:late:other.example").Val(), "late notices of the other receiver")
	})
}
