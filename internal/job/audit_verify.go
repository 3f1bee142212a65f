package job

import (
	"encoding/json"
	"fmt"
	"slices"
)

// AuditVerification is the result of VerifyAudit.
type AuditVerification struct {
	// Entries is the number of entries in the log.
	Entries int `json:"entries"`
	// Head is the head of the log; nil if the job's record has none.
	Head *AuditHead `json:"head,omitempty"`
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
		v.fault("known digest", "no entry has it: what it was noted for is not in the log as it was")
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
			v.fault(
				entryPath(i),
				fmt.Sprintf("does not follow entry %d as it is now: that one was changed, or entries were removed, added or moved here", i),
			)
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
		v.fault(
			entryPath(0),
			"does not begin this job's log: it was changed or removed, or another job had this id before, or on another server",
		)
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
