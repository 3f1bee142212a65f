package store

import (
	"context"
	"encoding/json"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// ActionRun is one run of an action.
type ActionRun struct {
	State lifecycle.RunState
	// Result is the action's result as JSON. It is empty until the run ends.
	Result json.RawMessage
}

// RenewRunLease renews a run's lease and returns the state of its job.
func (cs Calls) RenewRunLease(ctx context.Context, id job.ID, run lifecycle.RunID) (job.State, error) {
	if err := cs.s.renew(ctx, PartitionOf(id), "acting", string(run), lifecycle.RunLease); err != nil {
		return "", err
	}
	state, _, err := cs.s.field(ctx, "job", id, "state")
	return job.State(state), err
}

// ActionRun returns a run of an action.
func (cs Calls) ActionRun(ctx context.Context, id job.ID, run lifecycle.RunID) (ActionRun, error) {
	p, err := locate(id)
	if err != nil {
		return ActionRun{}, err
	}
	fields, err := cs.s.rdb.HMGet(ctx, p.key("action", string(run)), "state", "result").Result()
	if err != nil {
		return ActionRun{}, err
	}
	found := texts(fields)
	return ActionRun{lifecycle.RunState(found[0]), json.RawMessage(found[1])}, nil
}
