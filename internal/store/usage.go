package store

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/price"
)

// daySeconds is the number of seconds in a day.
const daySeconds = 24 * 60 * 60

// Account is the state of a job's usage and budget, with the spending of the same day.
type Account struct {
	// Turn is the job's latest turn; 0 for a job that is gone.
	Turn int
	// Used is the usage of the turn, over all of its servers.
	Used job.Metered
	// Budget is the job's own budget; 0 means no limit.
	Budget price.Nano
	Spent  job.Spending
	// Day is the start of the day of this spending (UTC).
	Day time.Time
	// Out is the maximum cost of the requests in flight of other jobs. It is set only in the answer
	// to a booking with a Most other than 0.
	Out job.Spending
}

// Booking is the usage of a turn as counted by one server.
type Booking struct {
	// Count identifies the server's count of the turn. What another count has left unsettled is
	// booked as used.
	Count string
	// Used is the usage of the whole turn. Booking the same value again changes nothing.
	Used job.Metered
	// Most is the maximum cost of the turn's requests in flight, under daily budgets.
	Most price.Nano
}

// outFor is the time for which requests in flight count without another booking.
const outFor = 2 * time.Minute

// Book adds what a turn has used so far to its job and to the day. It settles what lost servers have left of
// this turn and of earlier ones.
//
// In a Cluster, the counts of a day and the job are in different slots. So the day is updated after
// the job, with the job's total cost on that day: if a process dies in between, the next booking
// adds what is missing.
func (ss Spending) Book(ctx context.Context, id job.ID, turn int, b Booking) (Account, error) {
	today, used := ss.s.Today(), b.Used
	day := today.Format(time.DateOnly)
	answer, err := ss.s.runJob(ctx, ss.s.scripts.usage, id, turn, day, RetainedDays*daySeconds,
		used.InputTokens, used.OutputTokens, used.CacheReadTokens, used.CacheWriteTokens, int64(used.Cost),
		int64(used.Unsettled), b.Count)
	if err != nil {
		return Account{}, err
	}
	j := texts(answer)
	if len(j) == 0 {
		return Account{}, nil
	}
	user := strings.TrimPrefix(j[5], job.ReaderPrefix) // the author of the reply pays for the interpretation
	if answer, err = ss.s.run(
		ctx, ss.s.scripts.spent, limitsIn, day, string(id), j[3], j[4], user, RetainedDays*daySeconds, int64(b.Most),
		outFor.Milliseconds(),
	); err != nil {
		return Account{}, err
	}
	d := texts(answer)
	return Account{
		Turn: atoi(j[0]), Used: meteredOf(j[6]), Budget: dollars(j[2]),
		Spent: job.Spending{Job: dollars(j[1]), User: nanos(d[0]), Kind: nanos(d[1]), Server: nanos(d[2])},
		Day:   today,
		Out:   job.Spending{User: nanos(d[3]), Kind: nanos(d[4]), Server: nanos(d[5])},
	}, nil
}

// meteredOf parses what a turn has used, as written by lua/usage.lua; zero if nothing was booked.
func meteredOf(text string) job.Metered {
	var n [5]int64
	for i, field := range strings.Fields(text) {
		if i < len(n) {
			n[i] = int64(nanos(field))
		}
	}
	return job.Metered{InputTokens: n[0], OutputTokens: n[1], CacheReadTokens: n[2], CacheWriteTokens: n[3], Cost: price.Nano(n[4])}
}

// SpentToday returns what was spent today (UTC) by a user, on a kind and in total.
func (s *Store) SpentToday(ctx context.Context, kind, user string) (job.Spending, error) {
	n, err := s.rdb.HMGet(
		ctx, limitsIn.key("spent", s.clock.now().Format(time.DateOnly)), "user:"+user, "kind:"+kind, "all",
	).Result()
	if err != nil {
		return job.Spending{}, err
	}
	d := texts(n)
	return job.Spending{User: nanos(d[0]), Kind: nanos(d[1]), Server: nanos(d[2])}, nil
}

// UserSpending is what was spent on the jobs of a user.
type UserSpending struct {
	UserID string
	Spent  price.Nano
}

// ByUser returns the users that have spent the most today (UTC), at most n of them.
func (ss Spending) ByUser(ctx context.Context, n int) ([]UserSpending, error) {
	spent, err := ss.s.rdb.HGetAll(ctx, limitsIn.key("spent", ss.s.Today().Format(time.DateOnly))).Result()
	if err != nil {
		return nil, err
	}
	var all []UserSpending
	for name, text := range spent {
		if user, ok := strings.CutPrefix(name, "user:"); ok {
			all = append(all, UserSpending{user, nanos(text)})
		}
	}
	slices.SortFunc(all, func(a, b UserSpending) int {
		return cmp.Or(cmp.Compare(b.Spent, a.Spent), cmp.Compare(a.UserID, b.UserID))
	})
	return all[:min(n, len(all))], nil
}

// texts returns the strings of a reply; "" for missing ones.
func texts(answer any) []string {
	list, _ := answer.([]any)
	all := make([]string, len(list))
	for i, v := range list {
		all[i], _ = v.(string)
	}
	return all
}

func nanos(text string) price.Nano {
	n, _ := strconv.ParseInt(text, 10, 64)
	return price.Nano(n)
}

func dollars(text string) price.Nano {
	usd, _ := strconv.ParseFloat(text, 64)
	return price.FromUSD(usd)
}
