package job

import (
	"fmt"
	"time"

	"ringback/internal/job/price"
)

// Spending is an amount of money per budget: either the budgets themselves, with 0 for no limit, or
// what was spent. Days are UTC.
type Spending struct {
	Job price.Nano // The amount of a job, over all of its attempts and rounds.
	// User, Kind and Server are amounts of a day: of the job's user, of its kind, and of all jobs.
	User, Kind, Server price.Nano
}

// BudgetOf is the scope of a budget.
type BudgetOf string

// The budgets.
const (
	BudgetOfJob    BudgetOf = "job"
	BudgetOfUser   BudgetOf = "user"
	BudgetOfKind   BudgetOf = "kind"
	BudgetOfServer BudgetOf = "server"
)

// UsedBudget is an exhausted budget.
type UsedBudget struct {
	Of BudgetOf
	// Budget is the limit, and Spent the amount spent.
	Budget, Spent price.Nano
	Until         time.Time // The end of the day of a daily budget.
}

// ByDay reports whether the budget is renewed at the end of the day.
func (u *UsedBudget) ByDay() bool { return u.Of != BudgetOfJob }

// Error returns a message for people that names the exhausted budget.
func (u *UsedBudget) Error() string {
	whose := map[BudgetOf]string{
		BudgetOfJob: "this job", BudgetOfUser: "its user for today (UTC)", BudgetOfKind: "its kind for today (UTC)",
		BudgetOfServer: "the server for today (UTC)",
	}
	return fmt.Sprintf("The budget of %s is used up: %s of %s.", whose[u.Of], Dollars(u.Spent), Dollars(u.Budget))
}

// Dollars formats an amount with cents, and with more digits if it is less than a cent.
func Dollars(n price.Nano) string {
	if n > 0 && n < price.Dollar/100 {
		return fmt.Sprintf("%.4f USD", n.USD())
	}
	return fmt.Sprintf("%.2f USD", n.USD())
}

// UsedUp returns the exhausted budget, the job's own first, or nil. day is the start of the day on
// which it was spent (UTC).
func (budgets Spending) UsedUp(spent Spending, day time.Time) *UsedBudget {
	for _, b := range budgets.with(spent) {
		if b.Budget > 0 && b.Spent >= b.Budget {
			if b.ByDay() {
				b.Until = day.AddDate(0, 0, 1)
			}
			return &b
		}
	}
	return nil
}

// Bear reports whether every budget has something left even if the pending requests cost as much as
// they can. A budget bears anything while none is pending.
func (budgets Spending) Bear(spent, out Spending) bool {
	may := out.with(Spending{})
	for i, b := range budgets.with(spent) {
		if most := may[i].Budget; b.Budget > 0 && most > 0 && b.Spent+most >= b.Budget {
			return false
		}
	}
	return true
}

func (budgets Spending) with(spent Spending) [4]UsedBudget {
	return [...]UsedBudget{
		{Of: BudgetOfJob, Budget: budgets.Job, Spent: spent.Job},
		{Of: BudgetOfUser, Budget: budgets.User, Spent: spent.User},
		{Of: BudgetOfKind, Budget: budgets.Kind, Spent: spent.Kind},
		{Of: BudgetOfServer, Budget: budgets.Server, Spent: spent.Server},
	}
}

// OnBudget is the kind's setting for an exhausted budget.
type OnBudget string

// What a kind does when a budget is exhausted.
const (
	AskOnBudget OnBudget = "ask" // asks a person if the job's own budget is exhausted, and waits for a daily one
	// WaitOnBudget waits for a daily budget until the end of the day. The job's own budget is never
	// renewed, so the job fails there.
	WaitOnBudget OnBudget = "wait"
	FailOnBudget OnBudget = "fail" // fails the job if any budget is exhausted
)

// Metered is the usage of a turn's requests, as reported by the model's API.
type Metered struct {
	InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens int64
	Cost                                                         price.Nano
	// Unsettled is the possible additional cost of the requests that have not ended.
	Unsettled price.Nano `json:",omitempty"`
}

// Plus returns the sum of both.
func (m Metered) Plus(o Metered) Metered {
	return Metered{
		InputTokens: m.InputTokens + o.InputTokens, OutputTokens: m.OutputTokens + o.OutputTokens,
		CacheReadTokens: m.CacheReadTokens + o.CacheReadTokens, CacheWriteTokens: m.CacheWriteTokens + o.CacheWriteTokens,
		Cost: m.Cost + o.Cost, Unsettled: m.Unsettled + o.Unsettled,
	}
}

// Quota limits the jobs of a user or a kind; 0 means any number. Jobs that interpret a reply are
// not counted.
type Quota struct {
	// AtOnce limits the jobs that have not ended: those that wait, run or ask a person.
	AtOnce int
	// PerDay limits the jobs created on a day (UTC). A retry creates none.
	PerDay int
}

// Count is the number of jobs to compare with a Quota.
type Count struct {
	// Open counts the jobs that have not ended.
	Open int `json:"open"`
	// Today counts the jobs created today (UTC), without those that RETENTION has removed.
	Today int `json:"today"`
}

// Limit is a rate limit of Claude's that an account has reached. No turn of that account is started
// until it ends.
type Limit struct {
	Code  Code      `json:"errorCode"` // The reason, for programs: usage_limit, rate_limited, overloaded or signed_out.
	Error string    `json:"error"`     // The same reason, for people.
	Since time.Time `json:"since"`     // The time at which it was reached.
	Until time.Time `json:"until"`     // The time of the next attempt.
	// Stated is true if the time of the next attempt came from the API; otherwise it is an estimate.
	Stated bool `json:"untilStated"`
}
