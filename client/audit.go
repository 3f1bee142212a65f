package client

import (
	"bytes"
	"context"
	"net/http"

	"ringback/internal/job"
)

// AuditLog is a job's audit log.
type AuditLog struct {
	// Lines is the log as stored, one JSON object per line.
	Lines []byte
	// Head is the end of its chain, or nil if the job's record has none.
	Head *job.AuditHead
}

// Entries returns the lines of the log, byte for byte.
func (l AuditLog) Entries() [][]byte {
	if len(l.Lines) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(l.Lines, []byte("\n")), []byte("\n"))
}

// Audit returns a job's audit log.
func (c *Client) Audit(ctx context.Context, id job.ID) (AuditLog, error) {
	text, header, err := c.exchange(ctx, http.MethodGet, jobPath(id, "/audit"), nil)
	log := AuditLog{Lines: text}
	if told := header.Get(job.AuditHeadHeader); err == nil && told != "" {
		if log.Head, err = job.ParseAuditHead(told); err != nil {
			err = c.foreign(err)
		}
	}
	return log, err
}
