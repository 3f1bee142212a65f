package job

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Actor identifies the person or back end that did something.
type Actor struct {
	UserID  string `json:"userId,omitempty"`  // The person; empty for a back end that named none.
	Key     string `json:"key,omitempty"`     // The name of the API key that a back end used; empty without one.
	Via     string `json:"via"`               // The channel: api, console, websocket, chat or slack.
	Address string `json:"address,omitempty"` // The IP address of the client.
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
	Previous    string    `json:"previous,omitempty"`
	Origin      string    `json:"origin,omitempty"`      // Binds the log to its job. Only the first entry has one.
	Time        time.Time `json:"time"`                  // The time at which the entry was written, by the store's clock.
	RequestID   ID        `json:"requestId"`             // The job that the log belongs to.
	KindVersion string    `json:"kindVersion,omitempty"` // The version of the kind at that time: hex SHA-256.
	// Event is the type of the entry: asked, approve, deny, steer, cancel, answered, unclear,
	// expired, withdrawn, started, finished, refused, unused (an approval that was never used), allowed
	// by a standing approval, or move and moved, to another version of the kind.
	Event string `json:"event"`
	// CheckpointID is the question that the entry is about; absent if no person was asked.
	CheckpointID CheckpointID   `json:"checkpointId,omitempty"`
	Type         CheckpointType `json:"type,omitempty"`
	By           *Actor         `json:"by,omitempty"` // The actor that decided; absent if none did.
	// How the subject of the decision was shown, as stated by the client; absent if it stated nothing.
	Shown Shown             `json:"shown,omitempty"`
	Trees map[string]string `json:"trees,omitempty"` // The git trees of the change that the client named, by repository.
	// Files counts the files of the change, and those that the deciding person had marked as
	// viewed; absent if the entry is not about a change.
	Files *FilesViewed  `json:"files,omitempty"`
	Scope ApprovalScope `json:"scope,omitempty"` // The scope of an approval: once, job or always.
	// Run identifies the run of an action.
	Run string `json:"run,omitempty"`
	// Outcome is the outcome of what was allowed or run: success, error, timed_out or unknown.
	Outcome string `json:"outcome,omitempty"`
	Detail  string `json:"detail,omitempty"` // The reason for a refusal, or for an outcome other than success.
	Operation
}

// Operation is the subject of an approval, see package approval, which creates it.
type Operation struct {
	Action string          `json:"action,omitempty"`                         // The name of an action; absent for a tool call.
	Tool   string          `json:"tool,omitempty"`                           // The name of a tool of the CLI; absent for an action.
	Input  json.RawMessage `json:"input,omitempty" jsonschema:"type=object"` // The input of the action or tool.
	// InputDigest is the hex SHA-256 of the input's canonical JSON (RFC 8785).
	InputDigest string `json:"inputDigest,omitempty"`
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
	ID     string `json:"id"`     // The approval's id, with which it is revoked.
	UserID string `json:"userId"` // The user who gave the approval, and whose jobs it applies to.
	Kind   string `json:"kind"`   // The kind of the jobs that it applies to.
	// RequestID is the only job that it applies to; absent if it applies to all jobs of the kind.
	RequestID ID `json:"requestId,omitempty"`
	// Rule is the rule that it permits, as shown to the person: a rule of the kind, or a tool's
	// name, a colon and one call.
	Rule string `json:"rule"`
	// Covers describes in plain words which calls the rule allows.
	Covers    []Segment `json:"covers,omitempty"`
	CreatedAt time.Time `json:"createdAt"` // The time at which it was given.
}

// AuditHead is the end of a chained audit log. It is stored apart from the log and updated in the
// same step as every append, so it reveals a truncated log.
type AuditHead struct {
	Count int `json:"count"` // The number of entries in the chain.
	// Digest is the digest of the last entry: hex SHA-256 of its bytes as stored. It is empty for
	// an empty log.
	Digest string `json:"digest,omitempty"`
	// Origin is that of the first entry; empty for an empty log, and for a log that a version before
	// origins has begun.
	Origin string `json:"origin,omitempty"`
}

// AuditOrigin returns the origin of a job's audit log: hex SHA-256 of what distinguishes the job from
// any other, also from one that had the same id before it was removed, or has it on another server.
// None of these ever changes.
func AuditOrigin(id ID, createdAt time.Time, kind, userID string) string {
	return Digest(fmt.Appendf(nil, "%s\n%d\n%s\n%s", id, createdAt.UnixMilli(), kind, userID))
}

// AuditHeadHeader is the response header of GET /api/jobs/:id/audit that contains the head, in the
// format of AuditHead.String. It is absent if the job's record has no head.
const AuditHeadHeader = "Ringback-Audit-Head"

// Append chains an entry to the log with an origin. It returns the entry to store and the new head. If
// a record has lost its head, Append starts a new chain, which VerifyAudit reports.
func (h *AuditHead) Append(e AuditEntry, origin string) (json.RawMessage, *AuditHead, error) {
	if h == nil {
		h = new(AuditHead)
	}
	next := AuditHead{Count: h.Count + 1, Origin: h.Origin}
	e.Previous, e.Origin = h.Digest, ""
	if h.Count == 0 {
		e.Origin, next.Origin = origin, origin
	}
	text, err := json.Marshal(e)
	next.Digest = Digest(text)
	return text, &next, err
}

// String returns "<count> <digest>", or "0".
func (h *AuditHead) String() string {
	return strings.TrimSpace(strconv.Itoa(h.Count) + " " + h.Digest)
}

// ParseAuditHead parses the output of String.
func ParseAuditHead(text string) (*AuditHead, error) {
	count, digest, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(count)
	if err != nil || (n == 0) != (digest == "") {
		return nil, errors.New("expected the head of an audit log, a count and a digest, such as: 2 9f86d0…")
	}
	return &AuditHead{Count: n, Digest: digest}, nil
}

// AuditVerification is the result of VerifyAudit.
type AuditVerification struct {
	Entries int        `json:"entries"`        // The number of entries in the log.
	Head    *AuditHead `json:"head,omitempty"` // The head of the log; absent if the job's record has none.
	// Unbound is true if a version before origins has begun the log: only the requestId in its entries
	// binds it to the job.
	Unbound bool `json:"unbound,omitempty"`
	// Faults are the differences from the log as it was written; empty if there are none. Their
	// paths are entries, counted from 1, or parts of the record.
	Faults []Detail `json:"faults,omitempty"`
}

// VerifyAudit compares the audit log of a job with its head. entries are the log's entries, byte for
// byte as stored. known is the digest of an entry that the log once had, such as the last one reported
// by a webhook, or empty.
func VerifyAudit(of Job, entries [][]byte, head *AuditHead, known string) AuditVerification {
	v := auditVerifier{AuditVerification: AuditVerification{Entries: len(entries), Head: head}}
	for _, text := range entries {
		link := auditLink{digest: Digest(text)}
		_ = json.Unmarshal(text, &link) // an unreadable entry follows nothing
		v.links = append(v.links, link)
	}
	v.compareLinks()
	v.compareJob(of)
	if head == nil {
		v.fault("head", "the job's record has none: it was removed")
	} else {
		v.compareHead()
	}
	if known != "" && !slices.ContainsFunc(v.links, func(l auditLink) bool { return l.digest == known }) {
		v.fault("known digest", "no entry has it: the entries that it was recorded for are missing or changed")
	}
	return v.AuditVerification
}

// auditLink is one entry: its own digest, and the parts of it that bind it to the previous entry and
// to the job.
type auditLink struct {
	digest    string
	Previous  string `json:"previous"`
	Origin    string `json:"origin"`
	RequestID ID     `json:"requestId"`
}

type auditVerifier struct {
	AuditVerification
	links []auditLink
}

func (v *auditVerifier) fault(path, message string) {
	v.Faults = append(v.Faults, Detail{Path: path, Message: message})
}

func (v *auditVerifier) compareLinks() {
	for i, link := range v.links {
		switch {
		case i == 0 && link.Previous != "":
			v.fault(entryPath(i), "follows an entry that is not here: the beginning was removed or moved")
		case i > 0 && link.Previous != v.links[i-1].digest:
			v.fault(entryPath(i), fmt.Sprintf("does not follow entry %d as it is now: that one was changed, or entries were removed, added or moved here", i))
		}
	}
}

// compareJob compares what binds the log to its job. A log from before origins has one neither in its
// first entry nor in the record of its job.
func (v *auditVerifier) compareJob(of Job) {
	if len(v.links) == 0 {
		return
	}
	foreign := slices.IndexFunc(v.links, func(l auditLink) bool { return l.RequestID != of.ID })
	if foreign >= 0 {
		v.fault(entryPath(foreign), fmt.Sprintf("is of the job %q, not of this one", v.links[foreign].RequestID))
	}
	first := v.links[0].Origin
	v.Unbound = first == "" && (of.Audit == nil || of.Audit.Origin == "")
	if foreign != 0 && !v.Unbound && first != AuditOrigin(of.ID, of.CreatedAt, of.Kind, of.UserID) {
		v.fault(entryPath(0), "does not begin this job's log: it was changed or removed, or another job had this id before, or on another server")
	}
}

func (v *auditVerifier) compareHead() {
	if len(v.links) != v.Head.Count {
		v.fault("head", fmt.Sprintf("%d entries were written, %d are here", v.Head.Count, len(v.links)))
	}
	if n := len(v.links); n > 0 && v.links[n-1].digest != v.Head.Digest {
		v.fault(entryPath(n-1), "is not the last one that was written: it was changed, or the end was removed, added or moved")
	}
}

func entryPath(i int) string { return fmt.Sprintf("entry %d", i+1) }
