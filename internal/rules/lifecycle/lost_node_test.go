package lifecycle_test

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

// TestWhatASilentNodeHeldIsTakenOver stops a node with a turn, and everything else for the given
// time.
func TestWhatASilentNodeHeldIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]time.Duration{"a minute": time.Minute, "three days": 72 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.OnBoth(t, lifecycle.Options{UserLimit: 1}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
				ctx := t.Context()
				must.Get(s.Nodes.Heartbeat(ctx, "dead", "", ""))(t)
				j, waits := startedOn(t, s, "dead"), startedOn(t, s, "dead")
				when := float64(time.Now().Add(-silent).UnixMilli())
				must.OK(t, rdb.ZAdd(ctx, "rb:{00}:nodes", redis.Z{Score: when, Member: "dead"}).Err())
				takeOver(t, s, "alive")
				for _, id := range []job.ID{j, waits} {
					if now, err := s.Get(ctx, id); err != nil || now.State != job.Pending {
						t.Errorf("%s is %s/%s, %v", id, now.State, now.Phase, err)
					}
				}
				if held, err := rdb.SCard(ctx, "rb:{"+string(j[4:6])+"}:running:u").Result(); err != nil || held != 0 {
					t.Errorf("%d places are held, %v", held, err)
				}
				takeOver(t, s, "alive") // nothing of it is left, so it is forgotten
				silent, err := s.Nodes.Heartbeat(ctx, "alive", "", "")
				if err != nil || len(silent) != 0 {
					t.Errorf("then these are silent: %v, %v", silent, err)
				}
			})
		})
	}
}

// The queue entry of a job that is gone is dropped by any node, also by one that has never seen the job.
func TestTheEntryOfAJobThatIsGoneIsDropped(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		j := must.Get(s.Start(ctx, storetest.NewJob("u")))(t)
		p := store.PartitionOf(j.ID)
		taken, ok, err := s.Dequeue(ctx, p, "n")
		if err != nil || !ok {
			t.Fatalf("nothing was queued: %v", err)
		}
		prefix := "rb:{" + string(j.ID[4:6]) + "}:"
		must.OK(t, rdb.Del(ctx, prefix+"job:"+string(j.ID)).Err())
		turn, err := storetest.New(t, rdb, lifecycle.Options{}).StartTurn(ctx, lifecycle.Worker{Node: "n"}, taken)
		if err != nil || turn != nil {
			t.Errorf("a turn of it: %+v, %v", turn, err)
		}
		must.Equal(t, 0, must.Get(rdb.XLen(ctx, prefix+"queue:"+string(taken.Priority)).Result())(t), "entries")
	})
}

// A node that resumes while another still checks its remains is not forgotten: when it dies, others
// notice what it has dequeued since.
func TestANodeThatWakesIsNotForgotten(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		pass := func() { // let the time pass after which the node counts as silent
			must.OK(t, rdb.ZAdd(t.Context(), "rb:{00}:nodes", redis.Z{Score: 1, Member: "paused"}).Err())
		}
		pass()
		if silent, err := s.Nodes.Heartbeat(t.Context(), "alive", "", ""); err != nil || len(silent) != 1 {
			t.Fatalf("these are silent: %v, %v", silent, err)
		}
		must.Get(s.Nodes.Heartbeat(t.Context(), "paused", "", ""))(t)
		if lost, err := s.Nodes.Lost(t.Context(), "paused"); err != nil || len(lost) != 0 {
			t.Fatalf("it has left %v, %v", lost, err)
		}
		id := startedOn(t, s, "paused")
		must.OK(t, rdb.ZScore(t.Context(), "rb:{00}:nodes", "paused").Err(), "the node is forgotten:")
		pass()
		takeOver(t, s, "alive")
		if now, err := s.Get(t.Context(), id); err != nil || now.State != job.Pending {
			t.Errorf("the job is %s, %v", now.State, err)
		}
	})
}

// startedOn creates a job and starts its turn on a node, if allowed.
func startedOn(t *testing.T, s *storetest.Service, node string) job.ID {
	t.Helper()
	j := must.Get(s.Start(t.Context(), newJob("u")))(t)
	taken, ok, err := s.Dequeue(t.Context(), store.PartitionOf(j.ID), node)
	if err != nil || !ok {
		t.Fatal("nothing to take", err)
	}
	must.Get(s.StartTurn(t.Context(), lifecycle.Worker{Node: node}, taken))(t)
	return j.ID
}

func takeOver(t *testing.T, s *storetest.Service, node string) {
	t.Helper()
	silent := must.Get(s.Nodes.Heartbeat(t.Context(), node, "", ""))(t)
	for _, n := range silent {
		lost := must.Get(s.Nodes.Lost(t.Context(), n))(t)
		for _, taken := range lost {
			must.Get(s.LoseNode(t.Context(), taken))(t)
		}
	}
}

// A node that was silent so long that another has requeued its entries does not start their turns:
// otherwise, no other node would notice if it died.
func TestAPutBackEntryStartsNoTurn(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		j := must.Get(s.Start(t.Context(), newJob("u")))(t)
		p := store.PartitionOf(j.ID)
		taken, ok, err := s.Dequeue(t.Context(), p, "slow")
		if err != nil || !ok {
			t.Fatal("nothing to take", err)
		}
		must.Get(s.LoseNode(t.Context(), taken))(t)
		if turn, err := s.StartTurn(t.Context(), lifecycle.Worker{Node: "slow"}, taken); err != nil || turn != nil {
			t.Fatalf("a turn was started that others have put back: %v, %v", turn, err)
		}
		again, ok, err := s.Dequeue(t.Context(), p, "other")
		if err != nil || !ok || again.JobID != j.ID {
			t.Fatalf("it was not put back: %v, %v", again, err)
		}
		if turn, err := s.StartTurn(t.Context(), lifecycle.Worker{Node: "slow"}, again); err != nil || turn != nil {
			t.Fatalf("a turn was started of what another node has taken: %v, %v", turn, err)
		}
		if turn, err := s.StartTurn(t.Context(), lifecycle.Worker{Node: "other"}, again); err != nil || turn == nil {
			t.Fatalf("whoever took it may not start it: %v", err)
		}
	})
}
