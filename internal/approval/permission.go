package approval

import (
	"fmt"
	"slices"
	"time"

	"ringback/internal/job"
)

// Permission is what a person's yes permits.
type Permission struct {
	Scope job.ApprovalScope
	// Life is how long the yes to exactly what was asked may be used. It is used once.
	Life time.Duration
	// Standing goes on permitting what the same rule asks for; nil where Scope is
	// once. Its ID and CreatedAt are the store's to give.
	Standing *job.Approval
}

// Request is what a person is asked to permit.
type Request struct {
	Type      job.CheckpointType
	UserID    string
	RequestID job.ID
	// Kind is the job's, and Rule the one of it by which a call of a tool is asked for.
	Kind, Rule string
}

// Permit says what a yes to a request permits, for a scope that may be empty: once.
// fault says why it cannot reach that far; empty where it can.
func Permit(r Request, scope job.ApprovalScope, life time.Duration) (p Permission, fault string) {
	p = Permission{Scope: job.Once, Life: life}
	switch scope {
	case "", job.Once:
		return p, ""
	case job.ForJob, job.Always:
	default:
		return p, fmt.Sprintf("found %q; allowed: once, job, always", scope)
	}
	if r.Type != job.ToolApproval {
		return p, "only calls of tools can be allowed for more than once"
	}
	p.Scope = scope
	p.Standing = &job.Approval{UserID: r.UserID, Kind: r.Kind, Rule: r.Rule}
	if scope == job.ForJob {
		p.Standing.RequestID = r.RequestID
	}
	return p, ""
}

// Standing finds, among standing approvals, the one that permits a request: its user
// gave it for the same rule of the same kind, and for this job or all of them.
func Standing(given []job.Approval, r Request) (job.Approval, bool) {
	i := slices.IndexFunc(given, func(a job.Approval) bool {
		return a.UserID == r.UserID && a.Kind == r.Kind && a.Rule == r.Rule && (a.RequestID == "" || a.RequestID == r.RequestID)
	})
	if i < 0 {
		return job.Approval{}, false
	}
	return given[i], true
}
