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
	if waited := st.blockedFor(j); !l.Stated && waited >= j.QueueTimeout {
		return st.fail(j, job.Expired, code, message, message)
	}
	if j.ResumeReason == nil {
		j.ResumeReason = &ResumeReason{Reason: Limited}
	}
	return st.tryAt(j, job.WaitingForLimit, code, message, l.Until)
}

// awaitNode tries a turn again that could not start because of its node, for as long as the job
// may wait for a worker.
func (st *State) awaitNode(j *Job, backoff time.Duration, code job.Code, message string) error {
	if st.blockedFor(j) >= j.QueueTimeout {
		return st.fail(j, job.Expired, code, message, message)
	}
	return st.startOver(j, code, message, backoff)
}

// blockedFor is for how long something has kept the job's turns from running that is not the job's
// fault.
func (st *State) blockedFor(j *Job) time.Duration {
	if j.BlockedSince.IsZero() {
		j.BlockedSince = st.Now
	}
	return st.Now.Sub(j.BlockedSince)
}
