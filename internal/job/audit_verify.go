package job

import (
	"encoding/json"
	"fmt"
	"slices"
)

// AuditVerification is what VerifyAudit found.
type AuditVerification struct {
	// Entries is how many entries the log has.
	Entries int `json:"entries"`
	// Unchained is how many of them, the first ones, an earlier version has written:
	// they carry no digests, and nobody can tell whether they were changed.
	Unchained int `json:"unchained"`
	// Head is the head of the log; nil where none of its entries is chained.
	Head *AuditHead `json:"head,omitempty"`
	// Faults say where the log is not as it was written; empty where it is. Their paths
	// are entries, counted from 1, or parts of the record.
	Faults []Detail `json:"faults,omitempty"`
}

// VerifyAudit compares an audit log with its head. entries are its entries, byte for
// byte as they are stored; known is the digest of an entry that the log had at some time,
// such as the end of a job told by a webhook, or empty.
func VerifyAudit(entries [][]byte, head *AuditHead, known string) AuditVerification {
	v := auditVerifier{AuditVerification: AuditVerification{Entries: len(entries), Head: head}, known: known}
	for _, text := range entries {
		var entry struct {
			Previous string `json:"previous"`
		}
		_ = json.Unmarshal(text, &entry) // one that cannot be read follows nothing
		v.links = append(v.links, auditLink{Digest(text), entry.Previous})
	}
	v.begin = max(0, slices.IndexFunc(v.links, func(l auditLink) bool { return l.previous == PreviousUnknown }))
	if head == nil {
		v.withoutHead()
	} else {
		v.Unchained = v.begin
		v.compareLinks()
		v.compareHead()
	}
	if known != "" && !slices.ContainsFunc(v.links[v.begin:], func(l auditLink) bool { return l.digest == known }) {
		v.fault("known digest", "no entry has it: what it was noted for is not in the log as it was")
	}
	return v.AuditVerification
}

// auditLink is one entry: its own digest, and that of the one before, as it says.
type auditLink struct{ digest, previous string }

type auditVerifier struct {
	AuditVerification
	links []auditLink
	begin int // of the chain
	known string
}

func (v *auditVerifier) fault(path, message string) {
	v.Faults = append(v.Faults, Detail{Path: path, Message: message})
}

// withoutHead judges what an earlier version has written: it chained nothing.
func (v *auditVerifier) withoutHead() {
	v.Unchained = len(v.links)
	if slices.ContainsFunc(v.links, func(l auditLink) bool { return l.previous != "" }) {
		v.Unchained = 0
		v.fault("head", "the job's record has none, though the entries are chained: it was removed")
	}
}

func (v *auditVerifier) compareLinks() {
	for i := v.begin; i < len(v.links); i++ {
		previous := v.links[i].previous
		switch {
		case i > v.begin && previous != v.links[i-1].digest:
			v.fault(entryPath(i), fmt.Sprintf("does not follow entry %d as it is now: that one was changed, or entries were removed, added or moved here", i))
		case i == v.begin && previous != "" && previous != PreviousUnknown:
			v.fault(entryPath(i), "follows an entry that is not here: the beginning was removed or moved")
		}
	}
}

func (v *auditVerifier) compareHead() {
	chained := len(v.links) - v.begin
	if chained != v.Head.Count {
		v.fault("head", fmt.Sprintf("%d entries were written, %d are here", v.Head.Count, chained))
	}
	if chained > 0 && v.links[len(v.links)-1].digest != v.Head.Digest {
		v.fault(entryPath(len(v.links)-1), "is not the last one that was written: it was changed, or the end was removed, added or moved")
	}
}

func entryPath(i int) string { return fmt.Sprintf("entry %d", i+1) }
