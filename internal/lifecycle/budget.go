package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// stopAtBudget stops a job whose next request would pass a budget. To go on later costs no
// attempt.
func (st *State) stopAtBudget(j *Job, used job.UsedBudget, then job.OnBudget) error {
	message := used.Error()
	if then == job.FailOnBudget || !used.ByDay() {
		return st.fail(j, job.Failed, job.CodeBudgetExceeded, message, message)
	}
	if j.ResumeReason == nil {
		j.ResumeReason = &ResumeReason{Reason: Limited}
	}
	return st.tryAt(j, job.WaitingForLimit, job.CodeBudgetExceeded, message, nextDay(st.Now))
}

// nextDay is when the day turns.
func nextDay(now time.Time) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
}
