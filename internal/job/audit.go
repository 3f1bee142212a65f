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
	// Event is what happened: asked, approve, deny, steer, cancel, answered,
	// unclear, expired, withdrawn, started, finished, refused, or allowed by a
	// standing approval.
	Event        string         `json:"event"`
	CheckpointID CheckpointID   `json:"checkpointId,omitempty"`
	Type         CheckpointType `json:"type,omitempty"`
	// By is who decided; nil where nobody did.
	By *Actor `json:"by,omitempty"`
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
	Rule      string    `json:"rule"`
	CreatedAt time.Time `json:"createdAt"`
}
