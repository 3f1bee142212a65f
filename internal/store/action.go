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
	// Result is the action's result as JSON. It is empty until the run ends.
	Result json.RawMessage
}

// RenewRunLease renews a run's lease and returns the state of its job.
func (s *Store) RenewRunLease(ctx context.Context, id job.ID, run lifecycle.RunID) (job.State, error) {
	p, err := locate(id)
	if err != nil {
		return "", err
	}
	if err := s.renew(ctx, p, "acting", string(run), lifecycle.RunLease); err != nil {
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
