package store_test

import (
	"context"
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

// A job that backs off twice in a row waits no longer than requested.
func TestAClockThatIsSetAgainIsDueOnTime(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		ctx := t.Context()
		n := newJob("u")
		n.MaxAttempts = 4
		j := must.Get(s.Start(ctx, n))(t)
		p := store.PartitionOf(j.ID)
		begun := time.Now()
		for turn := 1; turn < n.MaxAttempts; turn++ {
			if claimed, err := s.Claim(ctx, p, lifecycle.Worker{Node: "n"}); err != nil || claimed == nil {
				t.Fatalf("turn %d was not claimed: %v", turn, err)
			}
			end := lifecycle.TurnEnd{ID: j.ID, Turn: turn, Node: "n", Again: true, Begun: true, Code: job.CodeCrashed, Backoff: 10 * time.Millisecond}
			must.Get(s.EndTurn(ctx, end))(t)
			fireUntil(t, s, p, j.ID)
		}
		if waited := time.Since(begun); waited > 2*time.Second {
			t.Errorf("backing off for 70 ms took %s", waited)
		}
	})
}

// fireUntil fires what is due until a job waits only for a worker.
func fireUntil(t *testing.T, s *storetest.Service, p store.Partition, id job.ID) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		must.OK(t, s.FireDue(t.Context(), p))
		if now, err := s.Get(t.Context(), id); err != nil || now.PhaseUntil.IsZero() {
			return
		}
	}
	t.Fatal("the job still backs off")
}

// A deadline that a node is about to fire must not hide the next one.
func TestANewClockIsNoticedBesideOneThatIsDue(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		must.OK(t, rdb.ZAdd(ctx, "rb:{00}:deadlines", redis.Z{Score: 1, Member: "retry|due"}).Err())
		subscribed, woken := make(chan struct{}, 16), make(chan store.Partition, 16)
		go s.Events.Subscribe(ctx, store.Subscriber{ClockFunc: func(p store.Partition) { woken <- p }, ResubscribedFunc: func() { subscribed <- struct{}{} }})
		<-subscribed
		if _, err := s.Start(ctx, newJob(usersOf(s, 0, 1)[0])); err != nil { // its queue clock is the next
			t.Fatal(err)
		}
		select {
		case <-woken:
		case <-time.After(10 * time.Second):
			t.Error("nobody was told of the clock")
		}
	})
}

// clocksOf sets clocks in a partition that were due long ago.
func clocksOf(t *testing.T, rdb redis.UniversalClient, p store.Partition, set, clock string, ids ...job.ID) {
	t.Helper()
	for _, id := range ids {
		key := fmt.Sprintf("rb:{%02x}:%s", int(p), set)
		must.OK(t, rdb.ZAdd(t.Context(), key, redis.Z{Score: 1, Member: clock + "|" + string(id)}).Err())
		if clock == "purge" {
			must.OK(t, rdb.HSet(t.Context(), fmt.Sprintf("rb:{%02x}:job:%s", int(p), id), "finished", 1).Err())
		}
	}
}

// endedJobs creates jobs of a user that have ended.
func endedJobs(t *testing.T, s *storetest.Service, n int) (ids []job.ID) {
	t.Helper()
	for range n {
		j := must.Get(s.Start(t.Context(), newJob("u")))(t)
		must.OK(t, s.Cancel(t.Context(), j.ID, job.Actor{}))
		ids = append(ids, j.ID)
	}
	return ids
}

// left counts the jobs that still exist.
func left(t *testing.T, s *storetest.Service, ids []job.ID) (n int) {
	t.Helper()
	for _, id := range ids {
		if _, err := s.Get(t.Context(), id); err == nil {
			n++
		}
	}
	return n
}

// However much is to be deleted, what people wait for comes first. An earlier version kept both in one set.
func TestNobodyWaitsForHousekeeping(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"housekeeping", "deadlines"} {
		storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
			ctx, ended := t.Context(), endedJobs(t, s, 120)
			p := store.PartitionOf(ended[0])
			waiting := must.Get(s.Start(ctx, newJob("u")))(t).ID
			clocksOf(t, rdb, p, set, "purge", ended...)
			clocksOf(t, rdb, p, "deadlines", "queue", waiting)
			for range 2 { // the first moves what an earlier version has written
				must.Get(s.Deadlines.FireDue(ctx, p, s.Service))(t)
			}
			must.Equal(t, job.Expired, must.Get(s.Get(ctx, waiting))(t).State, "the job that waits is")
			if n := left(t, s, ended); n < 100 {
				t.Errorf("%d of 120 jobs are left: they were deleted first", n)
			}
			must.Eventually(t, "all to be deleted", func() bool {
				must.Get(s.Deadlines.FireDue(ctx, p, s.Service))(t)
				return left(t, s, ended) == 0
			})
		})
	}
}

// Where something else is always due, jobs are deleted, too.
func TestHousekeepingDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ended := endedJobs(t, s, 12)
		p := store.PartitionOf(ended[0])
		clocksOf(t, rdb, p, "housekeeping", "purge", ended...)
		for range 20 {
			clocksOf(t, rdb, p, "deadlines", "retry", "req_1")
			must.Get(s.Deadlines.FireDue(t.Context(), p, s.Service))(t)
		}
		must.Equal(t, 0, left(t, s, ended), "jobs are left")
	})
}

// A clock that cannot be fired holds up no other.
func TestAClockThatCannotBeFiredHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		var broken []job.ID
		for range 5 {
			broken = append(broken, must.Get(s.Start(ctx, newJob("u")))(t).ID)
		}
		p := store.PartitionOf(broken[0])
		for _, id := range broken {
			must.OK(t, rdb.HSet(ctx, fmt.Sprintf("rb:{%02x}:job:%s", int(p), id), "resumeReason", "nonsense").Err())
		}
		waiting := must.Get(s.Start(ctx, newJob("u")))(t).ID
		clocksOf(t, rdb, p, "deadlines", "queue", append(broken, waiting)...)
		must.Get(s.Deadlines.FireDue(ctx, p, s.Service))(t)
		must.Equal(t, job.Expired, must.Get(s.Get(ctx, waiting))(t).State, "the job behind them is")
		due, _, err := s.Deadlines.Due(ctx, p)
		must.OK(t, err)
		must.Equal(t, 0, len(due), "those that failed are still due")
	})
}

// A job that was retried is kept as long as any after its latest end, whichever clock of an earlier end is left.
func TestAnEarlierEndDeletesNoJob(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"housekeeping", "deadlines"} {
		storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
			ended := endedJobs(t, s, 1)
			p := store.PartitionOf(ended[0])
			must.OK(t, s.Retry(t.Context(), ended[0]))
			must.OK(t, s.Cancel(t.Context(), ended[0], job.Actor{}))
			member, due := "purge|"+string(ended[0]), rdb.ZScore(t.Context(), fmt.Sprintf("rb:{%02x}:housekeeping", int(p)), "purge|"+string(ended[0])).Val()
			must.OK(t, rdb.ZAdd(t.Context(), fmt.Sprintf("rb:{%02x}:%s", int(p), set), redis.Z{Score: 1, Member: member}).Err())
			for range 3 {
				must.Get(s.Deadlines.FireDue(t.Context(), p, s.Service))(t)
			}
			must.Equal(t, 1, left(t, s, ended), "jobs are left")
			must.Equal(t, due, rdb.ZScore(t.Context(), fmt.Sprintf("rb:{%02x}:housekeeping", int(p)), member).Val(), "it is due")
		})
	}
}

// A job is deleted however many turns it has had: a fault of its node repeats them for a day.
func TestAJobOfManyTurnsIsDeleted(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ended := endedJobs(t, s, 1)
		p := store.PartitionOf(ended[0])
		must.OK(t, rdb.HSet(t.Context(), fmt.Sprintf("rb:{%02x}:job:%s", int(p), ended[0]), "turn", 50_000).Err())
		must.OK(t, s.Transcripts.Write(t.Context(), ended[0], 49_999, 0, []byte("{}")))
		clocksOf(t, rdb, p, "housekeeping", "purge", ended...)
		must.OK(t, s.FireDue(t.Context(), p))
		must.Equal(t, 0, left(t, s, ended), "jobs are left")
		keys := must.Get(rdb.Keys(t.Context(), "*"+string(ended[0])+"*").Result())(t)
		must.Equal(t, []string{}, keys, "keys of it are left")
	})
}
