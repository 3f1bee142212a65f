package store_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// away makes a store look as if no server had reached it for a time, or as if that had ended some time ago.
func away(t *testing.T, rdb redis.UniversalClient, length, ended time.Duration) {
	t.Helper()
	back := must.Get(rdb.Time(t.Context()).Result())(t).Add(-ended)
	fields := []any{"seen", back.Add(-length).UnixMilli()}
	if ended > 0 {
		fields = []any{"seen", back.Add(ended).UnixMilli(), "graceUntil", back.Add(min(length, 30*time.Second)).UnixMilli()}
	}
	must.OK(t, rdb.HSet(t.Context(), "rb:{00}:clock", fields...).Err())
}

// outages are what has happened to the store, and whether what was silent meanwhile gets more time.
var outages = map[string]struct {
	length, ended time.Duration
	spared        bool
}{
	"the store was always available":               {0, 0, false},
	"a slow moment":                                {3 * time.Second, 0, false},
	"the store was unavailable until now":          {20 * time.Second, 0, true},
	"the store was unavailable for hours":          {5 * time.Hour, 0, true},
	"the store was unavailable until a moment ago": {20 * time.Second, 10 * time.Second, true},
	"the store has been available again for long":  {20 * time.Second, 31 * time.Second, false},
}

// expire lets the callback clock of a job expire in the past, with its secret.
func expire(t *testing.T, rdb redis.UniversalClient, id job.ID) {
	t.Helper()
	p := fmt.Sprintf("rb:{%02x}:", int(store.PartitionOf(id)))
	past := must.Get(rdb.Time(t.Context()).Result())(t).Add(-time.Second).UnixMilli()
	must.OK(t, rdb.ZAddXX(t.Context(), p+"deadlines", redis.Z{Score: float64(past), Member: "callback|" + string(id)}).Err())
	must.OK(t, rdb.HSet(t.Context(), p+"secret:"+string(id), "until", past).Err())
	must.OK(t, rdb.HSet(t.Context(), p+"job:"+string(id), "deadline", past).Err())
}

// While the store was unavailable, Claude could not call back: its deadline does not count as passed. Each of its
// calls is accepted, the first after the outage as well as those after the deadlines were looked at.
func TestAnOutageExpiresNoTurn(t *testing.T) {
	t.Parallel()
	calls := map[string]func(t *testing.T, s *storetest.Service, id job.ID) lifecycle.Outcome{
		"a result": func(t *testing.T, s *storetest.Service, id job.ID) lifecycle.Outcome {
			t.Helper()
			return must.Get(s.Accept(t.Context(), id, lifecycle.Submission{Result: json.RawMessage(`{}`), Digest: "d"}))(t)
		},
		"a progress report": func(t *testing.T, s *storetest.Service, id job.ID) lifecycle.Outcome {
			t.Helper()
			h, state, _, err := s.Calls.Header(t.Context(), id)
			must.OK(t, err)
			if state == job.Expired {
				return lifecycle.RefusedIn(state)
			}
			return must.Get(s.Calls.Progress(t.Context(), id, h, json.RawMessage(`{}`), "d"))(t)
		},
	}
	for name, outage := range outages {
		for what, call := range calls {
			for _, looked := range []bool{false, true} {
				t.Run(fmt.Sprint(name, ", ", what, ", deadlines were looked at: ", looked), func(t *testing.T) {
					t.Parallel()
					storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
						id := must.Get(s.Start(t.Context(), newJob("u")))(t).ID
						s.Next(t, "n")
						expire(t, rdb, id)
						away(t, rdb, outage.length, outage.ended)
						if looked {
							must.OK(t, s.FireDue(t.Context(), store.PartitionOf(id)))
						}
						want := lifecycle.RefusedIn(job.Expired)
						if outage.spared {
							want = lifecycle.Outcome{Kind: lifecycle.Accepted}
						}
						must.Equal(t, want, call(t, s, id))
					})
				})
			}
		}
	}
}

// lapse sets the time of a member of a zset to the past.
func lapse(t *testing.T, rdb redis.UniversalClient, p store.Partition, zset, member string) {
	t.Helper()
	past := float64(must.Get(rdb.Time(t.Context()).Result())(t).Add(-time.Second).UnixMilli())
	key := fmt.Sprintf("rb:{%02x}:%s", int(p), zset)
	must.Equal(t, int64(1), must.Get(rdb.ZAddArgs(t.Context(), key, redis.ZAddArgs{
		XX: true, Ch: true, Members: []redis.Z{{Score: past, Member: member}},
	}).Result())(t), "changed", member)
}

// Nobody could do anything while the store was unavailable, so nothing has lapsed. What the server itself does next
// waits for no one.
func TestAnOutageIsHeldAgainstNobody(t *testing.T) {
	t.Parallel()
	const account = "a"
	running := func(t *testing.T, s *storetest.Service) job.ID {
		t.Helper()
		id := must.Get(s.Start(t.Context(), newJob("u")))(t).ID
		s.Next(t, "n")
		return id
	}
	state := func(t *testing.T, s *storetest.Service, id job.ID) job.State {
		t.Helper()
		must.OK(t, s.FireDue(t.Context(), store.PartitionOf(id)))
		return must.Get(s.Get(t.Context(), id))(t).State
	}
	for what, check := range map[string]func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, outage func()) (lost bool){
		"a job that waits for a worker": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, outage func()) bool {
			t.Helper()
			id := must.Get(s.Start(t.Context(), newJob("u")))(t).ID
			lapse(t, rdb, store.PartitionOf(id), "deadlines", "queue|"+string(id))
			outage()
			return state(t, s, id) == job.Expired
		},
		"a job that waits for a person": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, outage func()) bool {
			t.Helper()
			id := running(t, s)
			_, _, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{RequestID: id, UserID: "u", Type: job.Confirmation, Message: "?", Digest: "d"})
			must.OK(t, err)
			lapse(t, rdb, store.PartitionOf(id), "deadlines", "human|"+string(id))
			outage()
			return state(t, s, id) == job.Expired
		},
		"an action that runs": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, outage func()) bool {
			t.Helper()
			id := running(t, s)
			_, run, _, err := s.StartAction(t.Context(), lifecycle.NewRun{RequestID: id, Run: "run_1", ApprovalKey: "k", Timeout: time.Hour})
			must.OK(t, err)
			lapse(t, rdb, store.PartitionOf(id), "acting", string(run))
			outage()
			must.OK(t, s.FireDue(t.Context(), store.PartitionOf(id)))
			return must.Get(s.Calls.ActionRun(t.Context(), id, run))(t).State != lifecycle.RunRunning
		},
		"a turn that starts an action next": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, outage func()) bool {
			t.Helper()
			id := running(t, s)
			expire(t, rdb, id)
			outage()
			outcome, run, _, err := s.StartAction(t.Context(), lifecycle.NewRun{RequestID: id, Run: "run_1", ApprovalKey: "k", Timeout: time.Hour})
			must.OK(t, err)
			if outcome.Kind == lifecycle.Accepted {
				must.OK(t, s.FinishAction(t.Context(), id, run, lifecycle.RunSucceeded, nil))
			}
			return state(t, s, id) == job.Expired
		},
		"the turn that tries whether a limit has ended": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, outage func()) bool {
			t.Helper()
			must.Get(rdb.HSet(t.Context(), "rb:{00}:limit:"+account, "until", 1, "job", "req_1", "lease", 1).Result())(t)
			outage()
			tries := false
			must.OK(t, s.Limits.Update(t.Context(), account, func(l *lifecycle.AccountLimit) { tries, _ = l.Try("req_2") }))
			return tries
		},
		"a server of another version": func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient, outage func()) bool {
			t.Helper()
			must.OK(t, rdb.ZAdd(t.Context(), "rb:{00}:servers", redis.Z{Score: 1, Member: "99 other"}).Err())
			must.OK(t, rdb.Del(t.Context(), "rb:{00}:format").Err())
			outage()
			return s.Nodes.Join(t.Context(), "newer") == nil
		},
	} {
		for name, outage := range outages {
			t.Run(what+": "+name, func(t *testing.T) {
				t.Parallel()
				storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
					lost := check(t, s, rdb, func() { away(t, rdb, outage.length, outage.ended) })
					must.Equal(t, !outage.spared, lost, "it is given up")
				})
			})
		}
	}
}

// The grace period ends: what is still silent then has expired, also if the store's clock has jumped in between.
func TestTheGracePeriodEnds(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		id := must.Get(s.Start(t.Context(), newJob("u")))(t).ID
		s.Next(t, "n")
		p := store.PartitionOf(id)
		expire(t, rdb, id)
		away(t, rdb, time.Minute, 0)
		must.OK(t, s.FireDue(t.Context(), p))
		must.Equal(t, job.Running, must.Get(s.Get(t.Context(), id))(t).State)
		due := rdb.ZScore(t.Context(), fmt.Sprintf("rb:{%02x}:deadlines", int(p)), "callback|"+string(id)).Val()
		now := must.Get(rdb.Time(t.Context()).Result())(t)
		if left := time.UnixMilli(int64(due)).Sub(now); left < 20*time.Second || left > 30*time.Second {
			t.Errorf("its deadline is in %s, want 30 s", left)
		}
		must.OK(t, rdb.HSet(t.Context(), "rb:{00}:clock", "graceUntil", now.Add(time.Hour).UnixMilli(), "seen", now.Add(time.Hour).UnixMilli()).Err())
		must.OK(t, s.FireDue(t.Context(), p))
		ends := time.UnixMilli(must.Get(rdb.HGet(t.Context(), "rb:{00}:clock", "graceUntil").Int64())(t))
		if ahead := ends.Sub(now); ahead > 10*time.Second {
			t.Errorf("nothing expires for %s", ahead)
		}
		away(t, rdb, time.Minute, 31*time.Second)
		expire(t, rdb, id)
		must.OK(t, s.FireDue(t.Context(), p))
		must.Equal(t, job.Expired, must.Get(s.Get(t.Context(), id))(t).State)
	})
}
