package store

import (
	"context"
	"encoding/json"
	"fmt"

	"ringback/internal/job"
)

// Audit returns a job's audit log as stored, oldest entry first, and its head, both read in one
// transaction. The head is nil if the job's record has none.
func (j Jobs) Audit(ctx context.Context, id job.ID) ([]json.RawMessage, *job.AuditHead, error) {
	p, err := locate(id)
	if err != nil {
		return nil, nil, err
	}
	pipe := j.s.rdb.TxPipeline()
	log := pipe.LRange(ctx, p.key("audit", string(id)), 0, -1)
	stored := pipe.HGet(ctx, p.key("job", string(id)), "auditHead")
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, nil, err
	}
	entries := make([]json.RawMessage, len(log.Val()))
	for i, text := range log.Val() {
		entries[i] = json.RawMessage(text)
	}
	if stored.Val() == "" {
		return entries, nil, nil
	}
	head := new(job.AuditHead)
	if err := json.Unmarshal([]byte(stored.Val()), head); err != nil {
		return nil, nil, fmt.Errorf("reading the head of the audit log of %s: %w", id, err)
	}
	return entries, head, nil
}
