package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// Moved is a job that was moved to another state: for logs and metrics, which see each
// move once, on the node that has made it. Events are for everybody else.
type Moved struct {
	ID     job.ID
	Kind   string
	UserID string
	// From is empty for a new job.
	From, To job.State
	// Turn counts the turns started, Attempt those in a row without a result, of
	// MaxAttempts.
	Turn, Attempt, MaxAttempts int
	// Code and Error say why the job ended without a result, or, where it is tried
	// again, why the turn before did.
	Code  job.Code
	Error string
	// Priority is the job's, and Waited how long its first turn was waited for; 0 but for the
	// start of that.
	Priority job.Priority
	Waited   time.Duration
}

// Again reports whether a turn has failed and another is started.
func (m Moved) Again() bool { return m.From == job.Running && m.To == job.Pending && m.Code != "" }

// moved tells of the jobs that a commit has moved.
func (s *Service) moved(st *State) {
	if s.opts.MovedFunc == nil {
		return
	}
	for _, j := range st.Jobs() {
		if j.State == j.Loaded.State || j.Deleted {
			continue
		}
		m := Moved{
			ID: j.ID, Kind: j.Kind, UserID: j.UserID, From: j.Loaded.State, To: j.State,
			Priority: j.Priority, Turn: j.Turn, Attempt: j.Attempt, MaxAttempts: j.MaxAttempts, Code: j.Code, Error: j.Error,
		}
		if m.From == job.Pending && m.To == job.Running && j.Turn == 1 {
			m.Waited = max(1, st.Now.Sub(j.CreatedAt))
		}
		if failed := j.LastFailure; failed != nil && m.From == job.Running && m.To == job.Pending && failed.Turn == j.Turn {
			m.Code, m.Error = failed.ErrorCode, failed.Error
		}
		s.opts.MovedFunc(m)
	}
}

// Jobs are the jobs of a state, each once.
func (st *State) Jobs() []*Job {
	var jobs []*Job
	seen := map[*Job]bool{nil: true}
	all := []*Job{st.Job, st.Latest, st.Before, st.Follower, st.Interpreter, st.Known}
	for _, j := range append(all, st.Waiting...) {
		if !seen[j] {
			seen[j] = true
			jobs = append(jobs, j)
		}
	}
	return jobs
}
