package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// Limit is a limit of Claude's at which a turn ended: of what the account may use, of the
// API, or of its sign-in.
type Limit struct {
	// Until is when the next turn may be tried.
	Until time.Time
	// Stated is whether the API said when the limit ends. Where it did not, Until is a
	// guess, and a job waits no longer than for a worker in all.
	Stated bool
}

// awaitLimitEnd lets a job wait for the end of a limit. It costs no attempt, and the next
// turn is told what this one was.
func (st *State) awaitLimitEnd(j *Job, l Limit, code job.Code, message string) error {
	if j.LimitedSince.IsZero() {
		j.LimitedSince = st.Now
	}
	if !l.Stated && st.Now.Sub(j.LimitedSince) >= j.QueueTimeout {
		return st.fail(j, job.Expired, code, message, message)
	}
	if j.ResumeReason == nil {
		j.ResumeReason = &ResumeReason{Reason: Limited}
	}
	return st.tryAt(j, job.WaitingForLimit, code, message, l.Until)
}
