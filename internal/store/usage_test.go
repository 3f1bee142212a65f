package store_test

import (
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The usage of a turn counts once for its job, and once for the day of its user, its kind and the
// server, however often and late it is booked.
func TestUsageIsBookedOnce(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		storetest.SetTimeOfDay(t, rdb, storetest.Noon)
		create := func(kind, user string) job.ID {
			n := newJob(user)
			n.Kind = kind
			return must.Get(s.Start(t.Context(), n))(t).ID
		}
		book := func(id job.ID, turn int, used job.Metered) job.Spending {
			account := must.Get(s.Spending.Book(t.Context(), id, turn, store.Booking{Used: used}))(t)
			return account.Spent
		}
		a, b, c := create("one", "u1"), create("one", "u2"), create("two", "u1")
		first := job.Metered{InputTokens: 100, OutputTokens: 10, CacheReadTokens: 50, CacheWriteTokens: 5, Cost: 3}
		second := first.Plus(job.Metered{InputTokens: 1, Cost: price.Dollar})
		book(a, 1, first)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { book(a, 1, second) })
			all.Go(func() { book(a, 1, first) }) // late
		}
		all.Wait()
		book(a, 2, first)
		book(b, 1, job.Metered{Cost: 2 * price.Dollar})
		book(c, 1, job.Metered{Cost: 5 * price.Dollar})

		want := job.Spending{Job: price.Dollar + 6, User: 6*price.Dollar + 6, Kind: 3*price.Dollar + 6, Server: 8*price.Dollar + 6}
		must.Equal(t, want, book(a, 0, job.Metered{}))
		want.Job = 0
		if spent, err := s.SpentToday(t.Context(), "one", "u1"); err != nil || spent != want {
			t.Errorf("today's are %+v, %v", spent, err)
		}
		if gone, err := s.Spending.Book(t.Context(), a[:len(a)-1]+"0", 1, store.Booking{Used: second}); err != nil || gone.Spent != (job.Spending{}) && gone.Turn != 0 {
			t.Errorf("for a job that is gone: %+v, %v", gone, err)
		}
		record := must.Get(s.Get(t.Context(), a))(t)
		used := record.Usage
		if math.Abs(used.CostUSD-1.000000006) > 1e-12 {
			t.Errorf("the job has cost %v", used.CostUSD)
		}
		used.CostUSD = 0
		must.Equal(t, job.Usage{InputTokens: 201, OutputTokens: 20, CacheReadTokens: 100, CacheWriteTokens: 10}, used)
		days := must.Get(s.Jobs.Daily(t.Context()))(t)
		if today := days[len(days)-1].CostUSD; math.Abs(today["one"]-3.000000006) > 1e-12 || today["two"] != 5 {
			t.Errorf("today has cost %v", today)
		}
		if unknown, err := s.Unknown(t.Context()); err != nil || len(unknown) > 0 {
			t.Errorf("keys that no list names: %v, %v", unknown, err)
		}
	})
}

// If the process died after updating only the job, the next booking updates the day.
func TestWhatTheDayLacksIsMadeUpFor(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		storetest.SetTimeOfDay(t, rdb, storetest.Noon)
		j := must.Get(s.Start(t.Context(), newJob("u1")))(t)
		must.Get(s.Spending.Book(t.Context(), j.ID, 1, store.Booking{Used: job.Metered{Cost: 7}}))(t)
		for _, name := range []string{"spent", "spent-by-job"} {
			keys, err := rdb.Keys(t.Context(), "rb:{00}:"+name+":*").Result()
			if err != nil || len(keys) != 1 {
				t.Fatal(keys, err)
			}
			rdb.Del(t.Context(), keys...)
		}
		account, err := s.Spending.Book(t.Context(), j.ID, 1, store.Booking{Used: job.Metered{Cost: 9}})
		if want := (job.Spending{Job: 9, User: 9, Kind: 9, Server: 9}); err != nil || account.Spent != want {
			t.Errorf("%+v, %v", account, err)
		}
	})
}

// What it costs to interpret a reply counts for the budget of the user who has replied.
func TestAnInterpretationCountsForItsUser(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		storetest.SetTimeOfDay(t, rdb, storetest.Noon)
		for i, user := range []string{"u1", job.ReaderPrefix + "u1"} {
			j := must.Get(s.Start(t.Context(), newJob(user)))(t)
			account, err := s.Spending.Book(t.Context(), j.ID, 1, store.Booking{Used: job.Metered{Cost: 2}})
			if want := price.Nano(2 * (i + 1)); err != nil || account.Spent.User != want {
				t.Errorf("after the cost of a job of %q, the user has spent %d, want %d; %v", user, account.Spent.User, want, err)
			}
		}
		if all, err := s.Spending.ByUser(t.Context(), 5); err != nil || len(all) != 1 || all[0] != (store.UserSpending{UserID: "u1", Spent: 4}) {
			t.Errorf("those who have spent are %+v, %v", all, err)
		}
	})
}

// Of the users, the statistics name those who have spent the most, also if their names have colons.
func TestWhoHasSpentTheMost(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		storetest.SetTimeOfDay(t, rdb, storetest.Noon)
		for user, cost := range map[string]price.Nano{"kind:x": 3, "user:a:b": 5, "all": 3, "last": 1} {
			j := must.Get(s.Start(t.Context(), newJob(user)))(t)
			must.Get(s.Spending.Book(t.Context(), j.ID, 1, store.Booking{Used: job.Metered{Cost: cost}}))(t)
		}
		got, err := s.Spending.ByUser(t.Context(), 3)
		if diff := cmp.Diff([]store.UserSpending{{UserID: "user:a:b", Spent: 5}, {UserID: "all", Spent: 3}, {UserID: "kind:x", Spent: 3}}, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}

// A request whose server was cut off counts at the most it can have cost, once, whoever books it and
// however many turns have requests that are out.
func TestEachServersRequestsAreSettledOnce(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		id := must.Get(s.Start(t.Context(), newJob("u")))(t).ID
		key := keysLike(t, rdb, "*:job:"+string(id))
		must.OK(t, rdb.HSet(t.Context(), key, "turn", 1).Err())
		book := func(turn int, count string, cost, unsettled price.Nano) (job.Metered, price.Nano) {
			used := job.Metered{Cost: cost, Unsettled: unsettled}
			a := must.Get(s.Spending.Book(t.Context(), id, turn, store.Booking{Count: count, Used: used}))(t)
			return a.Used, a.Spent.Job
		}
		for turn, count := range []string{"ABC", "DEF", "GHI"} { // each is out when the next begins, and late
			book(turn+1, count, 0, 5*price.Dollar)
		}
		for turn, count := range []string{"ABC", "DEF", "GHI"} {
			if used, _ := book(turn+1, count, price.Dollar, 0); used.Cost != price.Dollar {
				t.Errorf("turn %d has used %d", turn+1, used.Cost)
			}
		}
		if _, spent := book(3, "", 0, 0); spent != 3*price.Dollar {
			t.Errorf("the job has cost %d", spent)
		}
	})
}
