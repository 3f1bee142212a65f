package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// QueuePosition says where a job stands among its user's jobs that wait for a worker.
type QueuePosition struct {
	JobID    job.ID
	UserID   string
	Priority job.Priority
	// Resumes is true for jobs that go on with work that has begun: they are taken before
	// new ones.
	Resumes bool
	// Since orders jobs that are otherwise alike. It never changes, so that a job which is put
	// back gets its old position.
	Since time.Time
}

// QueuePosition follows from the record alone, so that a lost position can be restored.
func (r *Record) QueuePosition() QueuePosition {
	return QueuePosition{r.ID, r.UserID, r.Priority, r.resumes(), r.CreatedAt}
}

// resumes reports whether the next turn goes on with work that has begun. A retry that a person
// asks for does not count: users could get ahead of others with it. A job that interprets a
// reply does, for the job that asked waits for it.
func (r *Record) resumes() bool {
	return r.Interprets.Checkpoint != "" || r.ResumeReason != nil && r.ResumeReason.Reason != Retried
}

// IsQueued reports whether the job waits for a worker, and for nothing else.
func (r *Record) IsQueued() bool {
	return r.State == job.Pending && r.Phase == job.Queued && r.PhaseUntil.IsZero() && r.Owner == ""
}
