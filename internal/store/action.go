package store

import (
	"context"
	"encoding/json"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// ActionRun is one run of an action.
type ActionRun struct {
	State lifecycle.RunState
	// Result is what the action gave back, JSON; empty before its end.
	Result json.RawMessage
}

// RenewRunLease gives a run's sign of life and returns the state of its job.
func (s *Store) RenewRunLease(ctx context.Context, id job.ID, run lifecycle.RunID) (job.State, error) {
	p, err := locate(id)
	if err != nil {
		return "", err
	}
	if err := s.renew(ctx, p, "acting", string(run), lifecycle.RunLease, "XX"); err != nil {
		return "", err
	}
	state, _, err := s.field(ctx, "job", id, "state")
	return job.State(state), err
}

// ActionRun returns a run of an action.
func (s *Store) ActionRun(ctx context.Context, id job.ID, run lifecycle.RunID) (ActionRun, error) {
	p, err := locate(id)
	if err != nil {
		return ActionRun{}, err
	}
	fields, err := s.rdb.HMGet(ctx, p.key("action", string(run)), "state", "result").Result()
	if err != nil {
		return ActionRun{}, storeError(err)
	}
	state, _ := fields[0].(string)
	result, _ := fields[1].(string)
	return ActionRun{lifecycle.RunState(state), json.RawMessage(result)}, nil
}

// Audit returns a job's audit log, oldest entry first, each a JSON object.
func (s *Store) Audit(ctx context.Context, id job.ID) ([]json.RawMessage, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	texts, err := s.rdb.LRange(ctx, p.key("audit", string(id)), 0, -1).Result()
	if err != nil {
		return nil, storeError(err)
	}
	entries := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		entries[i] = json.RawMessage(text)
	}
	return entries, nil
}
