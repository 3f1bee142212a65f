package review

import (
	"context"
	"encoding/json"
	"time"

	"ringback/internal/workspace"
)

// ownTime is how long the server itself may work for a job: clone, verify, publish.
// The callback clock is for Claude.
const ownTime = 2 * time.Hour

// Prepare makes the repositories ready for Claude, and sets the callback clock anew.
// It returns the cause of ctx where that ends, else an *Error.
func (c *Change) Prepare(ctx context.Context) error {
	err := c.makeReady(ctx)
	if err == nil {
		err = c.flow.jobs.ExtendTurn(ctx, c.job.ID, 0)
	}
	if err = causeOr(ctx, err); err != nil && ctx.Err() == nil {
		return notReady(err)
	}
	return err
}

// makeReady clones what is not there. Where an earlier turn worked on another machine,
// what it did is brought here, or c.Lost says that it is gone.
func (c *Change) makeReady(ctx context.Context) error {
	if err := c.flow.jobs.ExtendTurn(ctx, c.job.ID, ownTime); err != nil {
		return err
	}
	isNew, err := c.workspace.Prepare(ctx, func(text string) { c.reportProgress(ctx, text) })
	if err != nil {
		return err
	}
	if isNew && c.job.Turn > 1 && c.job.Result != nil {
		restored, err := c.restore(ctx)
		if err != nil {
			return err
		}
		c.Lost = !restored
	}
	return c.workspace.MarkReady()
}

// restore brings back what keep has stored. It is false where there is nothing.
func (c *Change) restore(ctx context.Context) (bool, error) {
	text, err := c.flow.store.Snapshot(ctx, c.job.ID)
	if err != nil || text == nil {
		return false, err
	}
	var snapshot workspace.Snapshot
	if err := json.Unmarshal(text, &snapshot); err != nil || snapshot == nil {
		return false, err
	}
	return true, c.workspace.Restore(ctx, snapshot)
}

// keep stores what was changed for another machine; without it, that one would have to
// begin anew.
func (c *Change) keep(ctx context.Context, trees workspace.Trees) {
	snapshot, err := c.workspace.Snapshot(ctx, trees)
	if err == nil {
		var text json.RawMessage
		if text, err = json.Marshal(snapshot); err == nil {
			err = c.flow.store.SaveSnapshot(ctx, c.job.ID, text)
		}
	}
	if err != nil {
		c.flow.log.Warn("could not keep a change for other machines", "requestId", c.job.ID, "error", err)
	}
}
