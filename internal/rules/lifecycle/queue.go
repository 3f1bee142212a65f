package lifecycle

import (
	"time"

	"ringback/internal/job"
)

// QueuePosition determines a job's position among its user's jobs that wait for a worker.
type QueuePosition struct {
	JobID  job.ID
	UserID string
	// Key is Record.APIKey.
	Key      string
	Priority job.Priority
	// Resumes is true for jobs that continue work that has begun. They go before new ones.
	Resumes bool
	// Since orders jobs that are otherwise equal. It never changes, so a requeued job gets its old
	// position back.
	Since time.Time
}

// QueuePosition depends only on the record, so that a lost position can be restored.
func (r *Record) QueuePosition() QueuePosition {
	return QueuePosition{
		JobID: r.ID, UserID: r.UserID, Key: r.APIKey, Priority: r.Priority, Resumes: r.resumes(), Since: r.CreatedAt,
	}
}

// resumes reports whether the next turn continues work that has begun. It is false for a retry by a
// person, because users could get ahead of others that way. It is true for a job that interprets a
// reply, because another job waits for it.
func (r *Record) resumes() bool {
	return r.Interprets.Checkpoint != "" || r.ResumeReason != nil && r.ResumeReason.Reason != Retried
}

// IsOverLimit reports whether the job waits because its user has enough jobs running.
func (r *Record) IsOverLimit() bool { return r.Phase == job.WaitingForLimit && r.PhaseUntil.IsZero() }

// AwaitsRateLimit reports whether the job waits for the stated end of a rate limit of Claude's.
func (r *Record) AwaitsRateLimit() bool {
	return r.Phase == job.WaitingForLimit && !r.PhaseUntil.IsZero() && r.LastFailure != nil && r.LastFailure.ErrorCode.IsRateLimit()
}

// IsQueued reports whether the job waits for a worker, and for nothing else.
func (r *Record) IsQueued() bool {
	return r.State == job.Pending && r.Phase == job.Queued && r.PhaseUntil.IsZero() && r.Owner == ""
}

// NeedsClaude reports whether the job's next turn calls Claude, on whatever node it runs.
func (r *Record) NeedsClaude() bool {
	continues := r.Approved() || r.isCaptured() && r.Reviewed == "" // see State.startTurn
	return !r.Simulated && !r.Manual && !continues
}
