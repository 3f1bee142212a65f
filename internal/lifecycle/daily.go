package lifecycle

import (
	"context"
	"strconv"
	"time"

	"ringback/internal/job"
	"ringback/internal/price"
)

// Measure is what is counted by day.
type Measure string

// The measures. The first counts billionths of a dollar by kind; the others count how often
// something took how long, by the classes of Bounds.
const (
	Spent         Measure = "spent"
	FirstCallback Measure = "firstCallback" // from the start of a turn to Claude's first callback
	Approval      Measure = "approval"      // from a question that asks for a decision to the decision
)

// Bounds are up to how many seconds the classes of a measure reach; one more class has all
// that took longer.
var Bounds = map[Measure][]int{
	FirstCallback: {1, 2, 5, 10, 20, 30, 60, 120, 300},
	Approval:      {10, 30, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600},
}

// Longer is the class behind the last of the bounds.
const Longer = "longer"

// classOf is the class of a duration: the bound that it does not exceed.
func classOf(m Measure, d time.Duration) string {
	for _, bound := range Bounds[m] {
		if d <= time.Duration(bound)*time.Second {
			return strconv.Itoa(bound)
		}
	}
	return Longer
}

// countDuration counts how long something took, on the day on which it ended.
func (st *State) countDuration(m Measure, d time.Duration) {
	st.do(CountDaily{st.Now, m, classOf(m, d), 1})
}

// countTurn counts what a turn that has ended has cost, and how soon Claude called back.
func (st *State) countTurn(j *Job, costBefore float64) {
	if cost := price.FromUSD(j.CostUSD - costBefore); cost > 0 {
		st.do(CountDaily{st.Now, Spent, j.Kind, int64(cost)}, CountSpent{st.Now, j.ID, cost})
	}
	if !j.FirstCallback.IsZero() {
		st.countDuration(FirstCallback, j.FirstCallback.Sub(j.StartedAt))
	}
}

// noteCallback notes when Claude first called back in a turn, where the command is signed by
// it. Reports of progress note it, too, in a script of their own.
func (st *State) noteCallback(ctx context.Context) {
	j := st.Job
	if _, signed := ctx.Value(signatureKey{}).(job.Signature); signed && j != nil && j.State == job.Running && j.FirstCallback.IsZero() {
		j.FirstCallback = st.Now
	}
}
