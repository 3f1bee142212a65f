package job

import (
	"cmp"
	"encoding/json"
	"time"
)

// Actor identifies the person or back end that did something.
type Actor struct {
	// UserID is the person; empty for a back end that named none.
	UserID string `json:"userId,omitempty"`
	// Key is the name of the API key that a back end used; empty without one.
	Key string `json:"key,omitempty"`
	// Via is the channel: one of the Via constants.
	Via string `json:"via"`
	// Address is the IP address of the client.
	Address string `json:"address,omitempty"`
}

// Who names the actor for people: "the key shop for u1", "the key shop" or "u1"; empty if neither is known.
func (a Actor) Who() string {
	switch {
	case a.Key != "" && a.UserID != "":
		return "the key " + a.Key + " for " + Bare(a.UserID)
	case a.Key != "":
		return "the key " + a.Key
	case a.UserID != "":
		return Bare(a.UserID)
	}
	return ""
}

// SpeaksFor names the actor if it is not the user in whose chat it writes; empty if it is.
func (a Actor) SpeaksFor(userID string) string {
	if a.Key != "" {
		a.UserID = cmp.Or(a.UserID, userID)
	} else if a.UserID == userID {
		return ""
	}
	return a.Who()
}

// The channels for a person's decision.
const (
	ViaAPI       = "api"
	ViaConsole   = "console"
	ViaWebSocket = "websocket"
	ViaChat      = "chat"
	ViaSlack     = "slack"
)

// AuditEntry is one line of a job's audit log, which is append-only.
type AuditEntry struct {
	// Previous is the digest of the previous entry as stored: hex SHA-256. It is empty for the
	// first entry.
	Previous string `json:"previous,omitempty"`
	// Origin binds the log to its job, see AuditOrigin. Only the first entry has one.
	Origin    string    `json:"origin,omitempty"`
	Time      time.Time `json:"time"`
	RequestID ID        `json:"requestId"`
	// KindVersion is the version of the kind at that time, see Job.
	KindVersion string `json:"kindVersion,omitempty"`
	// Event is the type of the entry: asked, approve, deny, steer, cancel, answered, unclear,
	// expired, withdrawn, started, finished, refused, unused (an approval that was never used), allowed
	// by a standing approval, or move and moved, to another version of the kind.
	Event        string         `json:"event"`
	CheckpointID CheckpointID   `json:"checkpointId,omitempty"`
	Type         CheckpointType `json:"type,omitempty"`
	// By is the actor that decided; nil if none did.
	By *Actor `json:"by,omitempty"`
	// Shown describes how the subject of the decision was shown, as stated by the client; empty if
	// it stated nothing. Trees are the trees of the change that the client named, by repository.
	Shown Shown             `json:"shown,omitempty"`
	Trees map[string]string `json:"trees,omitempty"`
	// Files counts the files of the change, and those that the deciding person had marked as
	// viewed; nil if the entry is not about a change.
	Files *FilesViewed `json:"files,omitempty"`
	// Scope is the scope of an approval: once, job or always.
	Scope ApprovalScope `json:"scope,omitempty"`
	// Run identifies the run of an action.
	Run string `json:"run,omitempty"`
	// Outcome is the outcome of what was allowed or run: success, error, timed_out or unknown.
	Outcome string `json:"outcome,omitempty"`
	// Detail is the reason for a refusal, or for an outcome other than success.
	Detail string `json:"detail,omitempty"`
	Operation
}

// Operation is the subject of an approval, see package approval, which creates it.
type Operation struct {
	// Action is the name of an action, and Tool the name of a tool of the CLI. One of them is set.
	Action string `json:"action,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Input is the input of the action or tool, and InputDigest the hex SHA-256 of its canonical
	// JSON (RFC 8785).
	Input       json.RawMessage `json:"input,omitempty" jsonschema:"type=object"`
	InputDigest string          `json:"inputDigest,omitempty"`
	// Dir is the directory in which a tool is called, relative to the job's own; empty if that is the
	// job's own, or if the call does not depend on it.
	Dir string `json:"dir,omitempty"`
	// PreviewDigest is the digest of the preview that people were shown for an action with this
	// input; empty without one.
	PreviewDigest string `json:"previewDigest,omitempty"`
	// Rule is the rule that a standing approval of the tool call would allow; empty for an action.
	Rule string `json:"rule,omitempty"`
}

// Shown describes how the subject of a decision was shown to the person who decided.
type Shown string

// The values of Shown.
const (
	ShownWhole  Shown = "whole" // all of it at once
	ShownPaged  Shown = "paged" // one page; the rest was approved unseen, by a second act
	ShownByLink Shown = "link"  // only a link or a command that leads to it
)

// ShownInText returns how a question is shown in channels that have only text: a chat and Slack.
func ShownInText(c Checkpoint) Shown {
	if p := PreviewIn(c.Props); c.Type == Review || p != nil && p.Format == PreviewImage {
		return ShownByLink
	}
	return ShownWhole
}

// Valid reports whether s is empty or one of these.
func (s Shown) Valid() bool {
	return s == "" || s == ShownWhole || s == ShownPaged || s == ShownByLink
}

// ApprovalScope is the scope of an approval.
type ApprovalScope string

// The scopes.
const (
	Once   ApprovalScope = "once"   // exactly this input, one time
	ForJob ApprovalScope = "job"    // everything that matches the rule, in this job
	Always ApprovalScope = "always" // everything that matches the rule, for this user
)

// Approval is a standing approval of tool calls. It is valid until it is revoked.
type Approval struct {
	ID     string `json:"id"`
	UserID string `json:"userId"`
	// Kind is the kind of the jobs that it applies to. RequestID is set if it applies to one job
	// only.
	Kind      string `json:"kind"`
	RequestID ID     `json:"requestId,omitempty"`
	// Rule is the rule that it permits, as shown to the person: a rule of the kind, or a tool's
	// name, a colon and one call.
	Rule string `json:"rule"`
	// Covers describes in plain words which calls the rule allows.
	Covers    []Segment `json:"covers,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}
