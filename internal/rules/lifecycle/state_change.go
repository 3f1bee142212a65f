package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// StateChange describes the change of a job's state, for logs and metrics. They see every change once, on
// the node that made it. All other consumers use events.
type StateChange struct {
	ID     job.ID
	Kind   string
	UserID string
	// From is empty for a new job.
	From, To job.State
	// Turn counts the turns started. Attempt counts consecutive ones without a result, up to
	// MaxAttempts.
	Turn, Attempt, MaxAttempts int
	// Code and Error are the reason why the job ended without a result, or, if it is retried, why
	// the previous turn did.
	Code  job.Code
	Error string
	// Priority is the job's priority. Waited is the time before its first turn started; 0 for all
	// moves other than that start.
	Priority job.Priority
	Waited   time.Duration
}

// Again reports whether a turn has failed and the job is retried.
func (m StateChange) Again() bool {
	return m.From == job.Running && m.To == job.Pending && m.Code != ""
}

// stateChanged reports the jobs whose state a commit has changed to StateChangedFunc.
func (s *Service) stateChanged(st *State) {
	if s.opts.StateChangedFunc == nil {
		return
	}
	for _, j := range st.Jobs() {
		if j.State == j.Loaded.State || j.Deleted != nil {
			continue
		}
		m := StateChange{
			ID: j.ID, Kind: j.Kind, UserID: j.UserID, From: j.Loaded.State, To: j.State,
			Priority: j.Priority, Turn: j.Turn, Attempt: j.Attempt, MaxAttempts: j.MaxAttempts, Code: j.Code, Error: j.Error,
		}
		if m.From == job.Pending && m.To == job.Running && j.Turn == 1 {
			m.Waited = max(1, st.Now.Sub(j.CreatedAt))
		}
		if failed := j.LastFailure; failed != nil && m.From == job.Running && m.To == job.Pending && failed.Turn == j.Turn {
			m.Code, m.Error = failed.ErrorCode, failed.Error
		}
		s.opts.StateChangedFunc(m)
	}
}

// concluded reports the outcomes that a commit has recorded to ConcludedFunc.
func (s *Service) concluded(st *State) {
	if s.opts.ConcludedFunc == nil {
		return
	}
	for _, c := range st.Conclusions {
		s.opts.ConcludedFunc(c)
	}
}

// Jobs returns the jobs of a state, each once.
func (st *State) Jobs() []*Job {
	var jobs []*Job
	seen := map[*Job]bool{nil: true}
	all := []*Job{
		st.Job, st.Latest.IfLoaded(), st.Before.IfLoaded(), st.Follower, st.Interpreter, st.Known.IfLoaded().Job,
	}
	for _, line := range st.Waiting.IfLoaded() {
		all = append(all, line.Jobs...)
	}
	for _, j := range all {
		if !seen[j] {
			seen[j] = true
			jobs = append(jobs, j)
		}
	}
	return jobs
}
