package job

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// AuditHead is the end of an audit log whose entries are chained. It is kept apart from
// the log, and with every entry it changes in the same step: so it tells of an end that
// was cut off.
type AuditHead struct {
	// Count is how many entries the chain has.
	Count int `json:"count"`
	// Digest is that of the last entry: hex SHA-256 of its bytes as they are stored.
	// It is empty for a log without entries.
	Digest string `json:"digest,omitempty"`
}

// AuditHeadHeader is the header in which GET /api/jobs/:id/audit tells the head, as
// AuditHead.String writes it. It is missing if the job's record has no head.
const AuditHeadHeader = "Ringback-Audit-Head"

// Append chains an entry to a log, and returns the entry as it is to be stored and the
// new head. A record that has lost its head starts a new chain, which VerifyAudit reports.
func (h *AuditHead) Append(e AuditEntry) (json.RawMessage, *AuditHead, error) {
	if h == nil {
		h = new(AuditHead)
	}
	e.Previous = h.Digest
	text, err := json.Marshal(e)
	return text, &AuditHead{Count: h.Count + 1, Digest: Digest(text)}, err
}

// String is "<count> <digest>", or "0".
func (h *AuditHead) String() string {
	return strings.TrimSpace(strconv.Itoa(h.Count) + " " + h.Digest)
}

// ParseAuditHead reads what String wrote.
func ParseAuditHead(text string) (*AuditHead, error) {
	count, digest, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(count)
	if err != nil || (n == 0) != (digest == "") {
		return nil, errors.New("the head of an audit log is a count and a digest, such as: 2 9f86d0…")
	}
	return &AuditHead{Count: n, Digest: digest}, nil
}
