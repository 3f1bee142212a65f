package lifecycle

import (
	"context"
	"strconv"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/price"
)

// Measure is a quantity that is counted by day.
type Measure string

// The measures. The first counts billionths of a dollar by kind. The others count durations, by the
// classes of Bounds.
const (
	Spent         Measure = "spent"
	FirstCallback Measure = "firstCallback" // from the start of a turn to Claude's first callback
	Approval      Measure = "approval"      // from the request for a decision to the decision
)

// Bounds are the upper bounds of the classes of a measure, in seconds. One more class, Longer, has
// no bound.
var Bounds = map[Measure][]int{
	FirstCallback: {1, 2, 5, 10, 20, 30, 60, 120, 300},
	Approval:      {10, 30, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600},
}

// Longer is the class after the last bound.
const Longer = "longer"

// classOf returns the class of a duration: the lowest bound that it does not exceed.
func classOf(m Measure, d time.Duration) string {
	for _, bound := range Bounds[m] {
		if d <= time.Duration(bound)*time.Second {
			return strconv.Itoa(bound)
		}
	}
	return Longer
}

// countDuration counts a duration on the day on which it ended.
func (st *State) countDuration(m Measure, d time.Duration) {
	st.do(CountDaily{Time: st.Now, Measure: m, Of: classOf(m, d), By: 1})
}

// countTurn counts the cost of a turn that has ended, and the time until Claude's first callback.
func (st *State) countTurn(j *Job, costBefore float64) {
	if cost := price.FromUSD(j.CostUSD - costBefore); cost > 0 {
		st.do(CountDaily{Time: st.Now, Measure: Spent, Of: j.Kind, By: int64(cost)}, CountSpent{st.Now, j.ID, cost})
	}
	if !j.FirstCallback.IsZero() {
		st.countDuration(FirstCallback, j.FirstCallback.Sub(j.StartedAt))
	}
}

// noteCallback records the time of Claude's first callback in a turn, and that Claude has read its
// prompt, if the command carries a signature: anyone can send one without. Progress reports record the
// time in their own script.
func (st *State) noteCallback(ctx context.Context) {
	j := st.Job
	if _, signed := ctx.Value(signatureKey{}).(job.Signature); !signed || j == nil || j.State != job.Running {
		return
	}
	if j.FirstCallback.IsZero() {
		j.FirstCallback = st.Now
	}
	if j.hasReadPrompt() {
		st.markPromptRead(j)
	}
}
