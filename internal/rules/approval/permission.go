package approval

import (
	"fmt"
	"slices"
	"time"

	"ringback/internal/job"
)

// Permission is what a person's approval permits.
type Permission struct {
	Scope job.ApprovalScope
	Life  time.Duration // How long the approval of exactly what was asked may be used. It is used once.
	// Standing keeps permitting what its rule covers; nil if Scope is once. The store
	// assigns its ID and CreatedAt.
	Standing *job.Approval
}

// Request is what a person is asked to permit.
type Request struct {
	Type      job.CheckpointType
	UserID    string
	RequestID job.ID
	// Kind is the job's kind. Rule is what an approval of a tool call for more than once
	// permits, as a Judgement had it and the person saw it.
	Kind, Rule string
	// Asking is the rule that asks, as the kind wrote it, and Tool the tool that is called. They find
	// what an earlier version has stored, see Standing.
	Asking, Tool string
	Changed      bool // True if the person changed the input while approving it.
}

// ScopeFault describes what is wrong with a requested scope. It returns "" if it is valid.
func ScopeFault(scope job.ApprovalScope) string {
	switch scope {
	case "", job.Once, job.ForJob, job.Always:
		return ""
	}
	return fmt.Sprintf("found %q; allowed: once, job, always", scope)
}

// Permit returns what an approval of a request permits. An empty scope means once. fault
// describes why the approval cannot have that scope; it is empty if it can.
func Permit(r Request, scope job.ApprovalScope, life time.Duration) (p Permission, fault string) {
	p = Permission{Scope: job.Once, Life: life}
	if fault := ScopeFault(scope); fault != "" {
		return p, fault
	}
	if scope == "" || scope == job.Once {
		return p, ""
	}
	if r.Type != job.ToolApproval {
		return p, "only tool calls can be approved for more than one call"
	}
	if r.Changed {
		return p, "edited input can only be approved once"
	}
	p.Scope = scope
	p.Standing = &job.Approval{UserID: r.UserID, Kind: r.Kind, Rule: r.Rule, Covers: says(r.Rule)}
	if scope == job.ForJob {
		p.Standing.RequestID = r.RequestID
	}
	return p, ""
}

// Standing finds the standing approval that permits a request: its user gave it for the
// same rule of the same kind, and for this job or all jobs. The request's rule is from
// Judge: if a deny rule or another ask rule may cover the call, only an approval of
// exactly this call matches.
func Standing(given []job.Approval, r Request) (job.Approval, bool) {
	i := slices.IndexFunc(given, func(a job.Approval) bool {
		return a.UserID == r.UserID && a.Kind == r.Kind && r.isPermittedBy(a.Rule) && (a.RequestID == "" || a.RequestID == r.RequestID)
	})
	if i < 0 {
		return job.Approval{}, false
	}
	return given[i], true
}

// isPermittedBy reports whether a stored rule permits the request: its own rule, or the one that an
// earlier version stored. That was the rule that asks, such as Write(config/**), although Edit(config/**)
// is now permitted, and a tool by any of its names. It still permits what it says, so no other tool.
func (r Request) isPermittedBy(stored string) bool {
	if stored == r.Rule || nameOf(stored) == r.Rule {
		return true
	}
	rule, err := parseToolRule(stored)
	rule.verdict = Allow
	return err == nil && stored == r.Asking && rule.inNotation() == r.Rule && rule.isFor(nameOf(r.Tool))
}
