package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// hit is a limit for which the API does not report an end.
var hit = lifecycle.ReachedRateLimit{
	Code: job.CodeRateLimit, Message: "too many requests",
	Pauses: lifecycle.Pauses{First: 100 * time.Millisecond, Longest: 250 * time.Millisecond},
}

// atLimit puts the account at a limit, reached by the turn of job "a".
func atLimit(t *testing.T, s *storetest.Service, l lifecycle.ReachedRateLimit) lifecycle.RateLimit {
	t.Helper()
	return reach(t, s, "a", l, true)
}

func reach(t *testing.T, s *storetest.Service, id job.ID, l lifecycle.ReachedRateLimit, wantNew bool) lifecycle.RateLimit {
	t.Helper()
	var until lifecycle.RateLimit
	var isNew bool
	err := s.Limits.Update(t.Context(), "account", func(a *lifecycle.AccountLimit) { until, isNew = a.Reach(id, l) })
	if err != nil || isNew != wantNew {
		t.Fatalf("job %s reaches the limit: %v, new: %t, want %t", id, err, isNew, wantNew)
	}
	return until
}

func try(t *testing.T, s *storetest.Service, id job.ID, wantOK, wantTry bool) {
	t.Helper()
	var ok, isTry bool
	err := s.Limits.Update(t.Context(), "account", func(l *lifecycle.AccountLimit) { ok, isTry = l.Try(id) })
	if err != nil || ok != wantOK || isTry != wantTry {
		t.Fatalf("job %s tries: %t, %t, %v; want %t, %t", id, ok, isTry, err, wantOK, wantTry)
	}
}

// Of many turns that start at once, on whatever nodes, one tries whether a limit has ended.
func TestOneTurnTriesWhetherALimitHasEnded(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		try(t, s, "a", true, false)
		stated := hit
		stated.ResetsAt = time.Now().Add(time.Hour).Truncate(time.Second)
		must.Equal(t, lifecycle.RateLimit{Until: stated.ResetsAt.UTC(), Stated: true}, atLimit(t, s, stated), "the limit")
		try(t, s, "b", false, false)
		limits := must.Get(s.Limits.List(t.Context()))(t)
		if len(limits) != 1 || limits[0].Code != hit.Code || !limits[0].Stated || limits[0].Error != hit.Message {
			t.Errorf("people see the limits %+v", limits)
		}
		must.OK(t, rdb.HSet(t.Context(), "rb:{00}:limit:account", "tries_at", 1).Err()) // some time later
		var trying atomic.Int64
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				var ok, isTry bool
				err := s.Limits.Update(t.Context(), "account", func(l *lifecycle.AccountLimit) { ok, isTry = l.Try(job.ID(fmt.Sprint("at once ", n))) })
				if err != nil || ok != isTry {
					t.Errorf("%d tries: %t, %t, %v", n, ok, isTry, err)
				}
				if ok {
					trying.Add(1)
				}
			})
		}
		all.Wait()
		must.Equal(t, int64(1), trying.Load(), "turns that try")
		must.Equal(t, false, must.Get(s.Limits.End(t.Context(), "account", "c"))(t), "a turn that does not try ends the limit")
		id := job.ID(rdb.HGet(t.Context(), "rb:{00}:limit:account", "job").Val())
		must.OK(t, s.Limits.Update(t.Context(), "account", func(l *lifecycle.AccountLimit) { l.RenewTry(id) }))
		must.OK(t, s.Limits.Update(t.Context(), "account", func(l *lifecycle.AccountLimit) { l.StopTrying(id) }))
		try(t, s, "d", true, true)
		must.Equal(t, true, must.Get(s.Limits.End(t.Context(), "account", "d"))(t), "the turn that tries ends the limit")
		must.Equal(t, 0, len(must.Get(s.Limits.List(t.Context()))(t)), "limits afterwards")
		early := stated
		early.Took = time.Hour
		reach(t, s, "e", early, false)
		try(t, s, "f", true, false)
		must.Equal(t, 0, len(must.Get(s.Unknown(t.Context()))(t)), "keys that no list names")
		if left := rdb.PTTL(t.Context(), "rb:{00}:limit:account").Val(); left <= 0 || left > 24*time.Hour {
			t.Errorf("what is left of the limit is kept for %s", left)
		}
	})
}

// A limit is said to end in days, and a turn that tries finds that it is gone: all jobs that wait for it try
// again at once. Those that wait for something else do not.
func TestJobsWaitNoLongerThanTheirLimit(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 10}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx, stated := t.Context(), lifecycle.ReachedRateLimit{Code: job.CodeUsageLimit, Message: "used up", ResetsAt: time.Now().Add(5 * 24 * time.Hour)}
		waits := func(user string, code job.Code, until time.Time) job.ID {
			j := must.Get(s.Start(ctx, newJob(user)))(t)
			s.Next(t, "n")
			must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{
				ID: j.ID, Turn: 1, Node: "n", Begun: true, Again: true, Code: code, Message: "used up",
				RateLimit: &lifecycle.RateLimit{Until: until, Stated: true},
			}))(t)
			return j.ID
		}
		limit := atLimit(t, s, stated)
		limited := []job.ID{waits("u", job.CodeUsageLimit, limit.Until), waits("another", job.CodeUsageLimit, limit.Until)}
		budget := waits("u", job.CodeBudgetExceeded, limit.Until)
		phases := func() (all []job.Phase) {
			for _, id := range append(limited, budget) {
				must.OK(t, s.FireDue(ctx, store.PartitionOf(id)))
				all = append(all, must.Get(s.Get(ctx, id))(t).Phase)
			}
			return all
		}
		waiting := job.WaitingForLimit
		must.Equal(t, []job.Phase{waiting, waiting, waiting}, phases(), "before")
		must.Equal(t, false, must.Get(s.Limits.End(ctx, "account", limited[0]))(t), "one that does not try ends the limit")
		must.Equal(t, []job.Phase{waiting, waiting, waiting}, phases(), "then")
		must.OK(t, rdb.HSet(ctx, "rb:{00}:limit:account", "tries_at", 1).Err()) // some time later
		try(t, s, "b", true, true)
		must.Equal(t, true, must.Get(s.Limits.End(ctx, "account", "b"))(t), "the one that tries ends the limit")
		must.Equal(t, []job.Phase{job.Queued, job.Queued, waiting}, phases(), "once the limit is gone")
		must.Equal(t, int64(0), rdb.Exists(ctx, "rb:{00}:limited").Val(), "jobs are listed that do not wait")
	})
}

// A job that begins to wait for a limit just after that has ended tries again at once.
func TestAJobThatWaitsForALimitThatIsGone(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 10}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		stated := lifecycle.ReachedRateLimit{Code: job.CodeUsageLimit, Message: "used up", ResetsAt: time.Now().Add(5 * 24 * time.Hour)}
		j := must.Get(s.Start(ctx, newJob("u")))(t)
		s.Next(t, "n")
		until := reach(t, s, j.ID, stated, true)
		must.OK(t, rdb.HSet(ctx, "rb:{00}:limit:account", "tries_at", 1).Err())
		try(t, s, "b", true, true)
		must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{
			ID: j.ID, Turn: 1, Node: "n", Begun: true, Again: true, Code: job.CodeUsageLimit, Message: "used up", RateLimit: &until,
		}))(t)
		phase := func() job.Phase {
			must.OK(t, s.Limits.Retry(ctx, "account", j.ID))
			must.OK(t, s.FireDue(ctx, store.PartitionOf(j.ID)))
			return must.Get(s.Get(ctx, j.ID))(t).Phase
		}
		must.Equal(t, job.WaitingForLimit, phase(), "while another turn tries")
		must.OK(t, rdb.Del(ctx, "rb:{00}:limit:account").Err()) // as if that had ended the limit before the job waited
		must.Equal(t, job.Queued, phase(), "once the limit is gone")
	})
}

// At a limit, what does not call Claude is taken from among what does: whatever its priority and API key.
// Its user keeps the turn for what else waits.
func TestWhatDoesNotCallClaudeIsTakenAtALimit(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 100}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		start := func(user, key string, priority job.Priority, simulate job.Simulation) job.ID {
			t.Helper()
			n := newJob(user)
			n.APIKey, n.Priority, n.Options.Simulate = key, priority, simulate
			return must.Get(s.Start(ctx, n))(t).ID
		}
		var calls, others []job.ID
		for _, key := range []string{"", "shop"} {
			for _, user := range []string{"u", "v", "w"} {
				calls = append(calls, start(user, key, job.Interactive, job.SimulateNone), start(user, key, job.Batch, job.SimulateNone))
			}
			others = append(others, start("u", key, job.Batch, job.SimulateSuccess), start("v", key, job.Interactive, job.SimulateSuccess))
		}
		alone := start("alone", "shop", job.Interactive, job.SimulateSuccess)
		prefix := "rb:{" + string(calls[0][4:6]) + "}:"
		gone := start("u", "", job.Interactive, job.SimulateSuccess)
		must.OK(t, s.Cancel(ctx, gone, job.Actor{}))
		must.OK(t, rdb.ZAdd(ctx, prefix+"unlimited", redis.Z{Score: 1, Member: string(gone)}).Err())

		want := append(others, alone)
		taken := map[job.ID]bool{}
		for range want {
			entry, ok, err := s.Queue.DequeueUnlimited(ctx, "n")
			if err != nil || !ok {
				t.Fatalf("after %d: %t, %v", len(taken), ok, err)
			}
			taken[entry.JobID] = true
			if turn, err := s.StartTurn(ctx, lifecycle.Worker{Node: "n"}, entry); err != nil || turn == nil {
				t.Errorf("%s does not start: %v", entry.JobID, err)
			}
		}
		for _, id := range want {
			must.Equal(t, true, taken[id], "it is taken", id)
		}
		entry, ok, err := s.Queue.DequeueUnlimited(ctx, "n")
		if ok || err != nil {
			t.Errorf("then there is %+v, %v", entry, err)
		}
		turns := store.NewTurns()
		turns.LookAll()
		for range calls {
			if _, ok, err := s.Queue.Dequeue(ctx, turns, "n"); !ok || err != nil {
				t.Errorf("what calls Claude is not taken after the limit: %v", err)
			}
		}
		if unknown, err := s.Unknown(ctx); err != nil || len(unknown) > 0 {
			t.Errorf("the store has keys that no list names: %v, %v", unknown, err)
		}
	})
}
