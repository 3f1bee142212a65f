package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/price"
)

// daySeconds are those of a day.
const daySeconds = 24 * 60 * 60

// Account is how a job stands, with all that was spent on the same day.
type Account struct {
	// Turn is the job's latest; 0 for a job that is gone.
	Turn int
	// Used is what the turn has used, by all of its servers.
	Used job.Metered
	// Budget is the job's own; 0: no limit.
	Budget price.Nano
	Spent  job.Spending
	// Out is what the requests of other jobs that are out cost at most; only in the answer to a
	// booking that holds some of its own.
	Out job.Spending
}

// Booking is what one server knows of a turn's use.
type Booking struct {
	// Count names the server's count of the turn. What another count has left unsettled is
	// booked as used.
	Count string
	// Used is what the whole turn has used: booking the same again changes nothing.
	Used job.Metered
	// Most is what the turn's requests that are out cost at most, under budgets of a day.
	Most price.Nano
}

// outFor is for how long requests that are out count without another booking.
const outFor = 2 * time.Minute

// BookUsage adds what a turn has used so far to its job and to the day. A turn of 0 is booked
// when none of the job's runs: it settles what lost servers have left.
//
// The counts of a day are in one slot of a Cluster and the job in another. So they are added
// to after the job, by what the job has cost on the day: what a process that died here has not
// added, the next booking does.
func (s *Store) BookUsage(ctx context.Context, id job.ID, turn int, b Booking) (Account, error) {
	day, used := s.clock.now().Format(time.DateOnly), b.Used
	answer, err := s.runJob(ctx, s.scripts.usage, id, turn, day, DaysKept*daySeconds,
		used.InputTokens, used.OutputTokens, used.CacheReadTokens, used.CacheWriteTokens, int64(used.Cost), int64(used.Unsettled), b.Count)
	if err != nil {
		return Account{}, err
	}
	j := texts(answer)
	if len(j) == 0 {
		return Account{}, nil
	}
	if answer, err = s.run(ctx, s.scripts.spent, limitsIn, day, string(id), j[3], j[4], j[5], DaysKept*daySeconds, int64(b.Most), outFor.Milliseconds()); err != nil {
		return Account{}, err
	}
	d := texts(answer)
	return Account{
		atoi(j[0]), meteredOf(j[6]), dollars(j[2]),
		job.Spending{Job: dollars(j[1]), User: nanos(d[0]), Kind: nanos(d[1]), Server: nanos(d[2])},
		job.Spending{User: nanos(d[3]), Kind: nanos(d[4]), Server: nanos(d[5])},
	}, nil
}

// meteredOf reads what a turn has used, as lua/usage.lua writes it; zero for what was not booked.
func meteredOf(text string) job.Metered {
	var n [5]int64
	for i, field := range strings.Fields(text) {
		if i < len(n) {
			n[i] = int64(nanos(field))
		}
	}
	return job.Metered{InputTokens: n[0], OutputTokens: n[1], CacheReadTokens: n[2], CacheWriteTokens: n[3], Cost: price.Nano(n[4])}
}

// SpentToday returns what was spent today (UTC) by a user, on a kind and by all.
func (s *Store) SpentToday(ctx context.Context, kind, user string) (job.Spending, error) {
	n, err := s.rdb.HMGet(ctx, limitsIn.key("spent", s.clock.now().Format(time.DateOnly)), "user:"+user, "kind:"+kind, "all").Result()
	if err != nil {
		return job.Spending{}, storeError(err)
	}
	d := texts(n)
	return job.Spending{User: nanos(d[0]), Kind: nanos(d[1]), Server: nanos(d[2])}, nil
}

// texts are the texts of an answer; "" for what is not there.
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
