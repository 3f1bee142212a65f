package store_test

import (
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
var hit = store.ReachedRateLimit{
	Code: job.CodeRateLimit, Message: "too many requests",
	Pauses: store.Pauses{First: 100 * time.Millisecond, Longest: 250 * time.Millisecond},
}

// atLimit puts the account at a limit, reached by the turn of job "a".
func atLimit(t *testing.T, s *storetest.Service, l store.ReachedRateLimit) lifecycle.RateLimit {
	t.Helper()
	return reach(t, s, "a", l, true)
}

func reach(t *testing.T, s *storetest.Service, id job.ID, l store.ReachedRateLimit, wantNew bool) lifecycle.RateLimit {
	t.Helper()
	until, isNew, err := s.ReachRateLimit(t.Context(), "account", id, l)
	if err != nil || isNew != wantNew {
		t.Fatalf("job %s reaches the limit: %v, new: %t, want %t", id, err, isNew, wantNew)
	}
	return until
}

// ended waits until a turn may try.
func ended(t *testing.T, s *storetest.Service) {
	t.Helper()
	for {
		wait, isTried, err := s.RateLimitWait(t.Context(), "account")
		if err != nil || isTried || wait < 0 {
			t.Fatalf("waiting for the end of the limit: %s, tried: %t, %v", wait, isTried, err)
		}
		if wait == 0 {
			return
		}
		time.Sleep(wait)
	}
}

func try(t *testing.T, s *storetest.Service, id job.ID, wantOK, wantTry bool) {
	t.Helper()
	ok, isTry, err := s.TryRateLimit(t.Context(), "account", id)
	if err != nil || ok != wantOK || isTry != wantTry {
		t.Fatalf("job %s tries: %t, %t, %v; want %t, %t", id, ok, isTry, err, wantOK, wantTry)
	}
}

func TestOneTurnTriesWhetherALimitHasEnded(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		if wait, _, err := s.RateLimitWait(t.Context(), "account"); err != nil || wait >= 0 {
			t.Fatalf("without a limit: %s, %v", wait, err)
		}
		try(t, s, "a", true, false)
		first := atLimit(t, s, hit)
		try(t, s, "b", false, false)
		// The limit of turns that ran at the same time ends then, too: they do not count as a
		// further try.
		if again := reach(t, s, "b", hit, false); !again.Until.Equal(first.Until) {
			t.Errorf("a second turn moved the end from %s to %s", first.Until, again.Until)
		}
		ended(t, s)
		try(t, s, "b", true, true)
		try(t, s, "c", false, false)
		try(t, s, "b", true, true) // the reply was lost
		if _, isTried, err := s.RateLimitWait(t.Context(), "account"); err != nil || !isTried {
			t.Errorf("nobody is told that one tries: %v", err)
		}
		// Another turn or a late one that reaches the limit does not change the try.
		reach(t, s, "c", hit, false)
		if ended, err := s.EndRateLimit(t.Context(), "account", "c"); ended || err != nil {
			t.Errorf("a turn that does not try ends the limit: %v", err)
		}
		try(t, s, "c", false, false)
		// After each failed try, the next one is later, up to the longest pause.
		shortest := time.Duration(0) // that the last pause can have been: it began during the call
		for range 4 {
			before := time.Now()
			until := reach(t, s, "b", hit, false).Until
			if until.Sub(before) < shortest || time.Until(until) > hit.Pauses.Longest {
				t.Errorf("a pause of %s after one of at least %s", until.Sub(before), shortest)
			}
			shortest = time.Until(until) - time.Millisecond // the store's time has no finer unit
			ended(t, s)
			try(t, s, "b", true, true)
		}
		if ended, err := s.EndRateLimit(t.Context(), "account", "b"); !ended || err != nil {
			t.Errorf("the turn that tried got through: %t, %v", ended, err)
		}
		try(t, s, "c", true, false)
		if limits, err := s.Limits(t.Context()); err != nil || len(limits) > 0 {
			t.Errorf("afterwards there are limits %v, %v", limits, err)
		}
	})
}

func TestATryEndsWithItsTurnOrItsLease(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		atLimit(t, s, hit)
		ended(t, s)
		try(t, s, "a", true, true)
		must.OK(t, s.StopTrying(t.Context(), "account", "b"))
		try(t, s, "b", false, false) // b could not end it
		must.OK(t, s.StopTrying(t.Context(), "account", "a"))
		try(t, s, "b", true, true)
		// b's node is gone: its lease expires.
		must.OK(t, rdb.HSet(t.Context(), "rb:{00}:limit:account", "lease", time.Now().Add(-time.Second).UnixMilli()).Err())
		try(t, s, "c", true, true)
		if err := s.RenewTry(t.Context(), "account", "b"); err != nil { // b was only paused
			t.Fatal(err)
		}
		if ended, err := s.EndRateLimit(t.Context(), "account", "b"); ended || err != nil {
			t.Errorf("a try that was taken over ends the limit: %v", err)
		}
	})
}

func TestWhatTheAPISaysOfALimitsEnd(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		at := func(after time.Duration) store.ReachedRateLimit {
			l := hit
			l.Code, l.ResetsAt = job.CodeUsageLimit, time.Now().Add(after).Truncate(time.Second)
			return l
		}
		hour, week := at(time.Hour), at(7*24*time.Hour)
		if until := atLimit(t, s, hour); !until.Until.Equal(hour.ResetsAt) || !until.Stated {
			t.Errorf("until %+v, want %s", until, hour.ResetsAt)
		}
		if until := reach(t, s, "b", hit, false); !until.Until.Equal(hour.ResetsAt) || !until.Stated {
			t.Errorf("a limit without an end moved it to %+v", until)
		}
		if until := reach(t, s, "b", week, false); !until.Until.Equal(week.ResetsAt) {
			t.Errorf("until %+v, want the later end %s", until, week.ResetsAt)
		}
		if until := reach(t, s, "b", hour, false); !until.Until.Equal(week.ResetsAt) {
			t.Errorf("until %+v, want the later end %s", until, week.ResetsAt)
		}
		for name, l := range map[string]store.ReachedRateLimit{"past": at(-time.Hour), "1970": {Pauses: hit.Pauses, ResetsAt: time.Unix(1, 0)}} {
			until, _, err := s.ReachRateLimit(t.Context(), name, "a", l)
			if wait := time.Until(until.Until); err != nil || until.Stated || wait <= 0 || wait > time.Second {
				t.Errorf("%s: until %+v, %v", name, until, err)
			}
		}
		until, _, err := s.ReachRateLimit(t.Context(), "far", "a", at(1000*24*time.Hour))
		if wait := time.Until(until.Until); err != nil || wait > 9*24*time.Hour {
			t.Errorf("years ahead: until %+v, %v", until, err)
		}
		limits, err := s.Limits(t.Context())
		if err != nil || len(limits) != 4 {
			t.Errorf("there are %d limits, want one of each account; %v", len(limits), err)
		}
		if unknown, err := s.Unknown(t.Context()); err != nil || len(unknown) > 0 {
			t.Errorf("the store has keys that no list names: %v, %v", unknown, err)
		}
	})
}

// Output of a job's process about a limit must not make the jobs of others wait for days.
func TestALimitThatIsSaidToLastIsTriedAnyway(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		l := hit
		l.Code, l.ResetsAt = job.CodeUsageLimit, time.Now().Add(6*24*time.Hour)
		if until := atLimit(t, s, l); time.Until(until.Until) < 5*24*time.Hour {
			t.Errorf("the limit ends at %s, want what was said", until.Until)
		}
		if wait, isTried, err := s.RateLimitWait(t.Context(), "account"); err != nil || isTried || wait < 14*time.Minute || wait > 15*time.Minute {
			t.Errorf("another turn tries in %s (%t, %v), want within 15 minutes", wait, isTried, err)
		}
	})
}

// A limit is said to end in days, and a turn that tries finds that it is gone: all jobs that wait for it try
// again at once. Those that wait for something else do not.
func TestJobsWaitNoLongerThanTheirLimit(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 10}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx, stated := t.Context(), store.ReachedRateLimit{Code: job.CodeUsageLimit, Message: "used up", ResetsAt: time.Now().Add(5 * 24 * time.Hour)}
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
		must.Equal(t, false, must.Get(s.EndRateLimit(ctx, "account", limited[0]))(t), "one that does not try ends the limit")
		must.Equal(t, []job.Phase{waiting, waiting, waiting}, phases(), "then")
		must.OK(t, rdb.HSet(ctx, "rb:{00}:limit:account", "tries_at", 1).Err()) // some time later
		try(t, s, "b", true, true)
		must.Equal(t, true, must.Get(s.EndRateLimit(ctx, "account", "b"))(t), "the one that tries ends the limit")
		must.Equal(t, []job.Phase{job.Queued, job.Queued, waiting}, phases(), "once the limit is gone")
		must.Equal(t, int64(0), rdb.Exists(ctx, "rb:{00}:limited").Val(), "jobs are listed that do not wait")
	})
}

// A limit was found gone by a turn that tried. Turns that began before do not bring it back when they end at it,
// nor do their jobs wait; one that began later does.
func TestALimitThatIsGoneDoesNotReturn(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		stated := hit
		stated.ResetsAt = time.Now().Add(5 * 24 * time.Hour)
		atLimit(t, s, stated)
		must.OK(t, rdb.HSet(t.Context(), "rb:{00}:limit:account", "tries_at", 1).Err()) // some time later
		try(t, s, "b", true, true)
		must.Equal(t, true, must.Get(s.EndRateLimit(t.Context(), "account", "b"))(t), "the limit ends")
		atNone := func(when string) {
			t.Helper()
			if wait, isTried, err := s.RateLimitWait(t.Context(), "account"); err != nil || isTried || wait >= 0 {
				t.Errorf("%s, turns wait %s (%t, %v)", when, wait, isTried, err)
			}
			must.Equal(t, 0, len(must.Get(s.Limits(t.Context()))(t)), "limits", when)
		}
		early := func(l store.ReachedRateLimit) store.ReachedRateLimit {
			l.Took = time.Hour
			return l
		}
		for when, l := range map[string]store.ReachedRateLimit{"after one with an end": early(stated), "after one without": early(hit)} {
			if until := reach(t, s, "c", l, false); until.Stated || time.Until(until.Until) > 0 {
				t.Errorf("%s, its job waits until %+v", when, until)
			}
			atNone(when)
		}
		late := hit
		late.ResetsAt = time.Now().Add(time.Hour)
		is := reach(t, s, "d", late, true)
		must.Equal(t, true, is.Stated, "a turn that began later brings one")
		must.Equal(t, is, reach(t, s, "c", early(stated), false), "which an early one does not move")
		if unknown, err := s.Unknown(t.Context()); err != nil || len(unknown) > 0 {
			t.Errorf("the store has keys that no list names: %v, %v", unknown, err)
		}
	})
}

// A job that begins to wait for a limit just after that has ended tries again at once.
func TestAJobThatWaitsForALimitThatIsGone(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 10}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		stated := store.ReachedRateLimit{Code: job.CodeUsageLimit, Message: "used up", ResetsAt: time.Now().Add(5 * 24 * time.Hour)}
		j := must.Get(s.Start(ctx, newJob("u")))(t)
		s.Next(t, "n")
		until := reach(t, s, j.ID, stated, true)
		must.OK(t, rdb.HSet(ctx, "rb:{00}:limit:account", "tries_at", 1).Err())
		try(t, s, "b", true, true)
		must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{
			ID: j.ID, Turn: 1, Node: "n", Begun: true, Again: true, Code: job.CodeUsageLimit, Message: "used up", RateLimit: &until,
		}))(t)
		phase := func() job.Phase {
			must.OK(t, s.RetryLimited(ctx, "account", j.ID))
			must.OK(t, s.FireDue(ctx, store.PartitionOf(j.ID)))
			return must.Get(s.Get(ctx, j.ID))(t).Phase
		}
		must.Equal(t, job.WaitingForLimit, phase(), "while another turn tries")
		must.OK(t, rdb.Del(ctx, "rb:{00}:limit:account").Err()) // as if that had ended the limit before the job waited
		must.Equal(t, job.Queued, phase(), "once the limit is gone")
	})
}

// At a limit, what does not call Claude is taken from among what does: whatever its priority and API key, and
// whoever has put it into the queue. Its user keeps the turn for what else waits.
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
		byPrevious := start("u", "shop", job.Interactive, job.SimulateSuccess)
		prefix := "rb:{" + string(calls[0][4:6]) + "}:"
		must.OK(t, rdb.ZRem(ctx, prefix+"line:"+job.ReservedUserPrefix+"key:shop:u", string(byPrevious)).Err())
		must.OK(t, rdb.ZAdd(ctx, prefix+"line:u", redis.Z{Score: 1e13 + 1, Member: string(byPrevious)}).Err())
		gone := start("u", "", job.Interactive, job.SimulateSuccess)
		must.OK(t, s.Cancel(ctx, gone, job.Actor{}))
		must.OK(t, rdb.ZAdd(ctx, prefix+"unlimited", redis.Z{Score: 1, Member: string(gone)}).Err())

		want := append(others, alone, byPrevious)
		taken := map[job.ID]bool{}
		for range want {
			entry, ok, err := s.DequeueUnlimited(ctx, "n")
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
		entry, ok, err := s.DequeueUnlimited(ctx, "n")
		if ok || err != nil {
			t.Errorf("then there is %+v, %v", entry, err)
		}
		turns := store.NewTurns()
		turns.LookAll()
		for range calls {
			if _, ok, err := s.Store.Dequeue(ctx, turns, "n"); !ok || err != nil {
				t.Errorf("what calls Claude is not taken after the limit: %v", err)
			}
		}
		if unknown, err := s.Unknown(ctx); err != nil || len(unknown) > 0 {
			t.Errorf("the store has keys that no list names: %v, %v", unknown, err)
		}
	})
}
