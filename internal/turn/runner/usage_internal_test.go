package runner

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The cost of a turn is added to the day while the job's next turn already has requests in flight: they are not over.
func TestALateBookingSettlesNothingOfTheNextTurn(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 4}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		storetest.SetTimeOfDay(t, rdb, storetest.Noon)
		first := claimed(t, s)
		id, end := first.Job.ID, lifecycle.TurnEnd{ID: first.Job.ID, Turn: 1, Node: "n", Again: true, Usage: job.Usage{CostUSD: 1}}
		must.Get(s.EndTurn(t.Context(), end))(t)
		must.OK(t, s.FireDue(t.Context(), store.PartitionOf(id)))
		if next := must.Get(s.Claim(t.Context(), store.PartitionOf(id), lifecycle.Worker{Node: "n"}))(t); next == nil || next.Job.Turn != 2 {
			t.Fatalf("the next turn is %+v", next)
		}
		inFlight := store.Booking{Count: "c", Used: job.Metered{Unsettled: 5 * price.Dollar}}
		must.Get(s.BookUsage(t.Context(), id, 2, inFlight))(t)
		must.Get(runnerOf(t, s).bookEnd(t.Context(), end, nil))(t)
		account := must.Get(s.BookUsage(t.Context(), id, 2, inFlight))(t)
		must.Equal(t, price.Dollar, account.Spent.Job, "the cost of the job")
		must.Equal(t, price.Dollar, account.Spent.Server, "the cost of the day")
	})
}
