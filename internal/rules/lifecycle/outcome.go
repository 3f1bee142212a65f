package lifecycle

import (
	"cmp"

	"ringback/internal/job"
)

// Outcome is the result of a callback, with its reason.
type Outcome struct {
	Kind OutcomeKind
	// State is set if Kind is Refused: the job's state. It is Expired as soon as the
	// callback deadline has passed, even if the clock has not fired yet.
	State job.State
	// Reason is set if Kind is Unapproved, in words for the logs and for Claude. If Kind is Denied,
	// it is the kind's rule that denies the call; empty if a person did.
	Reason string
	// Outdated is set if Kind is Unapproved because the preview of an action has changed. It
	// identifies the checkpoint at which the earlier preview was approved.
	Outdated job.CheckpointID
	// Waiting is true if a message waits that the turn could receive.
	Waiting bool
}

// OutcomeKind is the kind of a callback's result.
type OutcomeKind string

// The kinds of outcomes.
const (
	Accepted   OutcomeKind = "accepted"   // stored, asked, started or allowed
	Repeated   OutcomeKind = "repeated"   // the same request was accepted before
	Conflict   OutcomeKind = "conflict"   // a different request was accepted before
	Stale      OutcomeKind = "stale"      // what the caller has read has changed: read it again
	Busy       OutcomeKind = "busy"       // another checkpoint of the job is open
	Unapproved OutcomeKind = "unapproved" // there is no usable approval
	Denied     OutcomeKind = "denied"     // a person or a rule of the kind denied it
	Refused    OutcomeKind = "refused"    // the job's state does not allow it
	Unknown    OutcomeKind = "unknown"    // no such job
)

// OK reports whether the callback took effect, now or when it was first sent.
func (o Outcome) OK() bool { return o.Kind == Accepted || o.Kind == Repeated }

// String returns the kind and its reason.
func (o Outcome) String() string {
	if why := cmp.Or(string(o.State), o.Reason); why != "" {
		return string(o.Kind) + ": " + why
	}
	return string(o.Kind)
}

// RefusedIn returns the outcome of a callback that the job's state does not allow.
func RefusedIn(state job.State) Outcome { return Outcome{Kind: Refused, State: state} }
