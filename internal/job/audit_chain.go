package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// AuditHead is the end of a chained audit log. It is stored apart from the log and updated in the
// same step as every append, so it reveals a truncated log.
type AuditHead struct {
	// Count is the number of entries in the chain.
	Count int `json:"count"`
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
		return nil, errors.New("the head of an audit log is a count and a digest, such as: 2 9f86d0…")
	}
	return &AuditHead{Count: n, Digest: digest}, nil
}
