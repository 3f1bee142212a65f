package job

import (
	"fmt"

	"ringback/internal/price"
)

// Spending is money by what it counts for: as budgets, what may be spent, and 0 is no limit;
// or what was spent. A day is one of UTC.
type Spending struct {
	// Job is that of a job, over all of its attempts and rounds.
	Job price.Nano
	// User, Kind and Server are those of a day: of the job's user, of its kind, and of all.
	User, Kind, Server price.Nano
}

// BudgetOf says whose budget it is.
type BudgetOf string

// The budgets.
const (
	BudgetOfJob    BudgetOf = "job"
	BudgetOfUser   BudgetOf = "user"
	BudgetOfKind   BudgetOf = "kind"
	BudgetOfServer BudgetOf = "server"
)

// UsedBudget is a budget that is used up.
type UsedBudget struct {
	Of BudgetOf
	// Budget may be spent, and Spent was.
	Budget, Spent price.Nano
}

// ByDay reports whether the budget is renewed when the day turns.
func (u *UsedBudget) ByDay() bool { return u.Of != BudgetOfJob }

// Error says which budget is used up, for people.
func (u *UsedBudget) Error() string {
	whose := map[BudgetOf]string{
		BudgetOfJob: "this job", BudgetOfUser: "its user for today (UTC)", BudgetOfKind: "its kind for today (UTC)", BudgetOfServer: "the server for today (UTC)",
	}
	return fmt.Sprintf("The budget of %s is used up: %s of %s.", whose[u.Of], Dollars(u.Spent), Dollars(u.Budget))
}

// Dollars writes an amount with cents, and with more digits if it is less than a cent.
func Dollars(n price.Nano) string {
	if n > 0 && n < price.Dollar/100 {
		return fmt.Sprintf("%.4f USD", n.USD())
	}
	return fmt.Sprintf("%.2f USD", n.USD())
}

// UsedUp returns the budget that is used up by what was spent, the job's own first; nil for
// none.
func (budgets Spending) UsedUp(spent Spending) *UsedBudget {
	for _, b := range budgets.with(spent) {
		if b.Budget > 0 && b.Spent >= b.Budget {
			return &b
		}
	}
	return nil
}

// Bear reports whether all budgets have something left even if those requests that are out
// cost as much as they can. A budget bears anything as long as none is out.
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
		{BudgetOfJob, budgets.Job, spent.Job},
		{BudgetOfUser, budgets.User, spent.User},
		{BudgetOfKind, budgets.Kind, spent.Kind},
		{BudgetOfServer, budgets.Server, spent.Server},
	}
}

// OnBudget is what happens when a budget is used up.
type OnBudget string

const (
	// AskOnBudget asks a person at the job's own budget, and waits at one of a day.
	AskOnBudget OnBudget = "ask"
	// WaitOnBudget waits at a budget of a day until the day turns. Nothing renews the job's own:
	// the job fails there.
	WaitOnBudget OnBudget = "wait"
	// FailOnBudget has the job fail at any.
	FailOnBudget OnBudget = "fail"
)

// Metered is what the requests of a turn have used, by the answers of the model's API.
type Metered struct {
	InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens int64
	Cost                                                         price.Nano
	// Unsettled is what the requests that have not ended may have cost beyond that.
	Unsettled price.Nano `json:",omitempty"`
}

// Plus adds two.
func (m Metered) Plus(o Metered) Metered {
	return Metered{
		m.InputTokens + o.InputTokens, m.OutputTokens + o.OutputTokens,
		m.CacheReadTokens + o.CacheReadTokens, m.CacheWriteTokens + o.CacheWriteTokens, m.Cost + o.Cost, m.Unsettled + o.Unsettled,
	}
}
