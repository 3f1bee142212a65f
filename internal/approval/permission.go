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
	// Standing goes on permitting what its rule says; nil where Scope is
	// once. Its ID and CreatedAt are the store's to give.
	Standing *job.Approval
}

// Request is what a person is asked to permit.
type Request struct {
	Type      job.CheckpointType
	UserID    string
	RequestID job.ID
	// Kind is the job's, and Rule what a yes to a call of a tool for more than once
	// permits, as Verdict has it and the person has seen it.
	Kind, Rule string
	// Changed is whether the person has changed the input while they said yes.
	Changed bool
}

// ScopeFault says what is wrong with a scope that somebody has named; empty for nothing.
func ScopeFault(scope job.ApprovalScope) string {
	switch scope {
	case "", job.Once, job.ForJob, job.Always:
		return ""
	}
	return fmt.Sprintf("found %q; allowed: once, job, always", scope)
}

// Permit says what a yes to a request permits, for a scope that may be empty: once.
// fault says why it cannot reach that far; empty where it can.
func Permit(r Request, scope job.ApprovalScope, life time.Duration) (p Permission, fault string) {
	p = Permission{Scope: job.Once, Life: life}
	if fault := ScopeFault(scope); fault != "" {
		return p, fault
	}
	if scope == "" || scope == job.Once {
		return p, ""
	}
	if r.Type != job.ToolApproval {
		return p, "only calls of tools can be allowed for more than once"
	}
	if r.Changed {
		return p, "an input that you change can be allowed once only: the rule is of the call as it was"
	}
	p.Scope = scope
	p.Standing = &job.Approval{UserID: r.UserID, Kind: r.Kind, Rule: r.Rule, Covers: says(r.Rule)}
	if scope == job.ForJob {
		p.Standing.RequestID = r.RequestID
	}
	return p, ""
}

// Standing finds, among standing approvals, the one that permits a request: its user
// gave it for the same rule of the same kind, and for this job or all of them. The
// request's rule is Verdict's: where a deny rule or another one that asks may be about
// the call, no rule is the same but that of exactly this call.
func Standing(given []job.Approval, r Request) (job.Approval, bool) {
	i := slices.IndexFunc(given, func(a job.Approval) bool {
		return a.UserID == r.UserID && a.Kind == r.Kind && a.Rule == r.Rule && (a.RequestID == "" || a.RequestID == r.RequestID)
	})
	if i < 0 {
		return job.Approval{}, false
	}
	return given[i], true
}
