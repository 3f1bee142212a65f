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
	// Faults are the differences from the log as it was written; empty if there are none. Their
	// paths are entries, counted from 1, or parts of the record.
	Faults []Detail `json:"faults,omitempty"`
}

// VerifyAudit compares an audit log with its head. entries are the log's entries, byte for byte as
// stored. known is the digest of an entry that the log once had, such as the last one reported by a
// webhook, or empty.
func VerifyAudit(entries [][]byte, head *AuditHead, known string) AuditVerification {
	v := auditVerifier{AuditVerification: AuditVerification{Entries: len(entries), Head: head}, known: known}
	for _, text := range entries {
		var entry struct {
			Previous string `json:"previous"`
		}
		_ = json.Unmarshal(text, &entry) // an unreadable entry follows nothing
		v.links = append(v.links, auditLink{Digest(text), entry.Previous})
	}
	v.compareLinks()
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

// auditLink is one entry: its own digest, and the digest that it gives for the previous entry.
type auditLink struct{ digest, previous string }

type auditVerifier struct {
	AuditVerification
	links []auditLink
	known string
}

func (v *auditVerifier) fault(path, message string) {
	v.Faults = append(v.Faults, Detail{Path: path, Message: message})
}

func (v *auditVerifier) compareLinks() {
	for i, link := range v.links {
		switch {
		case i == 0 && link.previous != "":
			v.fault(entryPath(i), "follows an entry that is not here: the beginning was removed or moved")
		case i > 0 && link.previous != v.links[i-1].digest:
			v.fault(
				entryPath(i),
				fmt.Sprintf("does not follow entry %d as it is now: that one was changed, or entries were removed, added or moved here", i),
			)
		}
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
