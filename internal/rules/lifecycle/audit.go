package lifecycle

import (
	"context"

	"ringback/internal/job"
)

// audit appends an entry to a job's audit log. Every entry must be appended here: it contains the
// digest of the previous entry, and the first one the log's origin; the head of the log, in the job's
// record, is updated with it. The record's version keeps two commits from following the same entry.
func (st *State) audit(j *Job, e job.AuditEntry) {
	e.Time, e.RequestID, e.KindVersion = st.Now, j.ID, j.KindVersion
	text, head, err := j.AuditHead.Append(e, job.AuditOrigin(j.ID, j.CreatedAt, j.Kind, j.UserID))
	if err != nil {
		panic("lifecycle: " + err.Error()) // its type is our own
	}
	j.AuditHead = head
	st.do(AppendAudit{j.ID, text})
}

// auditCheckpoint appends an entry about a checkpoint of a job.
func (st *State) auditCheckpoint(j *Job, c *Checkpoint, e job.AuditEntry) {
	e.CheckpointID, e.Type, e.Operation = c.ID, c.Type, c.AuditFields
	st.audit(j, e)
}

// auditReply appends a person's decision about a job.
func (st *State) auditReply(c *Checkpoint, event string, by job.Actor, r job.Reply, seen Seen, scope job.ApprovalScope) {
	if c.JobID == "" || st.Job == nil {
		return
	}
	entry := job.AuditEntry{Event: event, By: &by, Shown: seen.Shown, Trees: seen.Trees, Files: seen.Files, Scope: scope}
	if r.Decision == job.Deny || r.Decision == job.Steer {
		entry.Detail = r.Reason // the reason for a denial, or the request for another round
	}
	st.auditCheckpoint(st.Job, c, entry)
}

// AppendAudit appends an entry to a job's audit log for an event that changes nothing else.
func (s *Service) AppendAudit(ctx context.Context, id job.ID, e job.AuditEntry) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error {
		if st.Job != nil {
			st.audit(st.Job, e)
		}
		return nil
	})
}
