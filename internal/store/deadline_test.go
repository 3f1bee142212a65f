package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// A job that backs off twice within the lease of its clock waits no longer than requested.
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
		go s.Subscribe(ctx, store.Subscriber{ClockFunc: func(p store.Partition) { woken <- p }, ResubscribedFunc: func() { subscribed <- struct{}{} }})
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
