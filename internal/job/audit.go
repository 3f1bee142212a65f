package job

import (
	"encoding/json"
	"time"
)

// Actor is who did something.
type Actor struct {
	// UserID is the person; empty for a back end that named none.
	UserID string `json:"userId,omitempty"`
	// Key is the name of the key by which a back end was let in; empty without one.
	Key string `json:"key,omitempty"`
	// Via is how it came in: one of the Via constants.
	Via string `json:"via"`
	// Address is where it came from: an IP address.
	Address string `json:"address,omitempty"`
}

// How a person's decision came in.
const (
	ViaAPI       = "api"
	ViaConsole   = "console"
	ViaWebSocket = "websocket"
	ViaChat      = "chat"
	ViaSlack     = "slack"
)

// AuditEntry is one line of a job's audit log, which is only ever added to.
type AuditEntry struct {
	// Previous is the digest of the entry before, as it is stored: hex SHA-256. It is
	// empty for the first, and PreviousUnknown where the log was begun without.
	Previous  string    `json:"previous,omitempty"`
	Time      time.Time `json:"time"`
	RequestID ID        `json:"requestId"`
	// KindVersion is the version of the kind under which it happened, see Job.
	KindVersion string `json:"kindVersion,omitempty"`
	// Event is what happened: asked, approve, deny, steer, cancel, answered,
	// unclear, expired, withdrawn, started, finished, refused, or allowed by a
	// standing approval.
	Event        string         `json:"event"`
	CheckpointID CheckpointID   `json:"checkpointId,omitempty"`
	Type         CheckpointType `json:"type,omitempty"`
	// By is who decided; nil where nobody did.
	By *Actor `json:"by,omitempty"`
	// Shown is how what was decided on had been shown, as the client stated; empty if it
	// stated nothing. Trees are what of a change it named, by repository.
	Shown Shown             `json:"shown,omitempty"`
	Trees map[string]string `json:"trees,omitempty"`
	// Files is how many files the change had, and how many of them the person who decided had
	// marked as viewed; nil if it was not about a change.
	Files *FilesViewed `json:"files,omitempty"`
	// Scope is how far an approval goes: once, job or always.
	Scope ApprovalScope `json:"scope,omitempty"`
	// Run is the run of an action.
	Run string `json:"run,omitempty"`
	// Outcome is how a run ended: success, error or unknown.
	Outcome string `json:"outcome,omitempty"`
	// Detail says why something was refused.
	Detail string `json:"detail,omitempty"`
	Operation
}

// Operation is what an approval is for, see package approval, which makes it.
type Operation struct {
	// Action is the name of an action, Tool of a tool of the CLI: one of them is set.
	Action string `json:"action,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Input is what it is to be done with, and InputDigest the SHA-256 of its
	// canonical JSON (RFC 8785), in hex.
	Input       json.RawMessage `json:"input,omitempty" jsonschema:"type=object"`
	InputDigest string          `json:"inputDigest,omitempty"`
	// PreviewDigest is the digest of the preview of an action with this input, as people
	// were shown it; empty without one.
	PreviewDigest string `json:"previewDigest,omitempty"`
	// Rule is what a yes for more than once to the call of a tool permits; empty for an action.
	Rule string `json:"rule,omitempty"`
}

// Shown is how what is decided on was shown to the person who decides.
type Shown string

// How something was shown.
const (
	ShownWhole  Shown = "whole" // all of it at once
	ShownPaged  Shown = "paged" // a page of it, and the rest was approved unseen by a second act
	ShownByLink Shown = "link"  // not there, but a link or a command that leads to it
)

// ShownInText is how a question is shown where there is only text: in a chat and in Slack.
func ShownInText(c Checkpoint) Shown {
	if p := PreviewIn(c.Props); c.Type == Review || p != nil && p.Format == PreviewImage {
		return ShownByLink
	}
	return ShownWhole
}

// Valid reports whether s is one of these, or empty.
func (s Shown) Valid() bool {
	return s == "" || s == ShownWhole || s == ShownPaged || s == ShownByLink
}

// ApprovalScope is how far an approval goes.
type ApprovalScope string

// The scopes.
const (
	Once   ApprovalScope = "once"   // for exactly this input, one time
	ForJob ApprovalScope = "job"    // for whatever matches the rule, in this job
	Always ApprovalScope = "always" // for whatever matches the rule, for this user
)

// Approval is a standing approval of tool calls, until it is revoked.
type Approval struct {
	ID     string `json:"id"`
	UserID string `json:"userId"`
	// Kind is whose jobs it is for; RequestID the only one, empty for all of them.
	Kind      string `json:"kind"`
	RequestID ID     `json:"requestId,omitempty"`
	// Rule is what it permits, as the person has seen it: a rule of the kind, or, behind
	// a tool's name and a colon, one call.
	Rule string `json:"rule"`
	// Covers says in plain words what the rule lets through.
	Covers    []Segment `json:"covers,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}
