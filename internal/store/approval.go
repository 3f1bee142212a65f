package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
)

// Answers returns the checkpoints of a job that a person has answered so far, in order.
func (cs Checkpoints) Answers(ctx context.Context, id job.ID) ([]job.Checkpoint, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	texts, err := cs.s.rdb.LRange(ctx, p.key("answers", string(id)), 0, -1).Result()
	if err != nil {
		return nil, err
	}
	return decodeEach[job.Checkpoint](texts, "an answer")
}

// decodeEach decodes JSON of one type. what is for the error.
func decodeEach[T any](texts []string, what string) ([]T, error) {
	list := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal([]byte(text), &list[i]); err != nil {
			return nil, fmt.Errorf("reading %s: %w", what, err)
		}
	}
	return list, nil
}

// jsonField returns a field of a job's record.
func jsonField[T any](ctx context.Context, s *Store, id job.ID, name string) (value T, err error) {
	text, _, err := s.field(ctx, "job", id, name)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &value)
	}
	return value, err
}

// Approvals returns the standing approvals of a user, oldest first.
func (cs Checkpoints) Approvals(ctx context.Context, userID string) ([]job.Approval, error) {
	texts, err := cs.s.rdb.HVals(ctx, partitionOf(userID).key("standing", userID)).Result()
	if err != nil {
		return nil, err
	}
	list, err := decodeEach[job.Approval](texts, "an approval")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b job.Approval) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Revoke removes a standing approval of a user. The caller relies on the result, so Revoke waits
// for replicas even if the approval is already gone: the earlier removal may be unconfirmed.
// Errors: NotFound; Unavailable if too few replicas confirmed it.
func (cs Checkpoints) Revoke(ctx context.Context, userID, id string) error {
	p := partitionOf(userID)
	key := p.key("standing", userID)
	stands, err := cs.s.rdb.HExists(ctx, key, id).Result()
	if err != nil {
		return err
	}
	c := &commit{prefix: p.prefix()}
	c.do("HDEL", key, id)
	if err := cs.s.writeAndWait(ctx, c); err != nil {
		return err
	}
	if !stands {
		return job.Errorf(job.NotFound, "No approval has the id %q", id).WithHint("GET /api/approvals lists the standing ones.")
	}
	return nil
}
