package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// RateLimit is a rate limit of Claude's at which a turn ended: of the account's usage, of the API, or
// of its sign-in.
type RateLimit struct {
	// Until is the time of the next attempt.
	Until time.Time
	// Stated is true if Until came from the API. Otherwise, it is an estimate, and a job waits no
	// longer in total than it would for a worker.
	Stated bool
}

// awaitRateLimit makes a job wait for the end of a rate limit. It costs no attempt, and the next
// turn gets this turn's resume reason.
func (st *State) awaitRateLimit(j *Job, l RateLimit, code job.Code, message string) error {
	if waited := st.blockedFor(j); !l.Stated && waited >= j.QueueTimeout {
		return st.fail(j, job.Expired, code, message, message)
	}
	if j.ResumeReason == nil {
		j.ResumeReason = &ResumeReason{Reason: Limited}
	}
	return st.tryAt(j, job.WaitingForLimit, code, message, l.Until)
}

// awaitNode retries a turn that could not start because of its node, for as long as the job may
// wait for a worker.
func (st *State) awaitNode(j *Job, backoff time.Duration, code job.Code, message string) error {
	blocked := st.blockedFor(j)
	if blocked >= j.QueueTimeout {
		return st.fail(j, job.Expired, code, message, message)
	}
	return st.startOver(j, code, message, max(backoff, min(blocked, longestNodeWait)))
}

// longestNodeWait limits the time between two attempts to start a turn, which doubles with each attempt.
const longestNodeWait = time.Minute

// blockedFor returns how long something that is not the job's fault has kept its turns from
// running.
func (st *State) blockedFor(j *Job) time.Duration {
	if j.BlockedSince.IsZero() {
		j.BlockedSince = st.Now
	}
	return st.Now.Sub(j.BlockedSince)
}
