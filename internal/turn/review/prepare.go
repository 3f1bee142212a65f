package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/turn/workspace"
)

// Prepare makes the repositories ready for Claude. It returns the cause of ctx if that
// ends, else an *Error.
func (c *Change) Prepare(ctx context.Context) error {
	return c.prepared(ctx, c.repeat(ctx, ownFor, "Preparing the workspace", func() error { return c.makeReady(ctx) }))
}

// Begin restarts the callback timeout when Claude's part of the turn begins. Its errors are
// those of Prepare.
func (c *Change) Begin(ctx context.Context) error {
	return c.prepared(ctx, c.flow.jobs.ExtendTurn(ctx, c.job.ID, c.holder(), 0))
}

// AwaitWorker suspends the time limit of Prepare while the turn waits for a worker. Its errors are those of
// Prepare.
func (c *Change) AwaitWorker(ctx context.Context) error {
	return c.prepared(ctx, c.flow.jobs.AwaitWorker(ctx, c.job.ID, c.holder()))
}

func (c *Change) prepared(ctx context.Context, err error) error {
	if err = causeOr(ctx, err); err != nil && ctx.Err() == nil {
		return notReady(err)
	}
	return err
}

// makeReady clones missing repositories. If another machine has made the latest capture, it is copied here. If
// it is gone, c.Lost is set, and the repositories are cloned again: what earlier turns left here is older.
func (c *Change) makeReady(ctx context.Context) error {
	captured, isOlder, err := c.bringHere(ctx, c.workspace.Prepare)
	if err == nil && isOlder {
		if err = c.workspace.Remove(); err == nil {
			_, err = c.workspace.Prepare(ctx, c.reportCloning(ctx))
		}
	}
	if err != nil {
		return err
	}
	return c.workspace.MarkReady(captured, c.Lost)
}

// bring makes sure that the latest capture is on this machine: nothing else may be published. what names
// it in the error. It removes nothing: this may be the only copy.
func (c *Change) bring(ctx context.Context, what string) error {
	err := c.repeat(ctx, ownFor, "Preparing the workspace", func() error {
		captured, _, err := c.bringHere(ctx, c.workspace.PrepareAgain)
		if err != nil || c.Lost {
			return err
		}
		return c.workspace.MarkReady(captured, false)
	})
	if err == nil && c.Lost {
		err = errors.New(what + " is on another machine, and no copy of it could be stored; the question for its review, or the log " +
			"of that server, names the reason: start that server again and retry the job while no other takes jobs, or have the change " +
			"made again, with a higher CHANGE_LIMIT if it was too large")
	}
	if err != nil {
		return notReady(err)
	}
	return nil
}

func (c *Change) reportCloning(ctx context.Context) func(string) {
	return func(text string) { c.reportProgress(ctx, text) }
}

// bringHere clones missing repositories, and copies the latest capture to this machine if another one has made it.
// If no copy is available, c.Lost is set; isOlder is true if the workspace has changes of earlier turns then.
func (c *Change) bringHere(
	ctx context.Context, prepare func(context.Context, func(string)) (bool, error),
) (captured workspace.Trees, isOlder bool, err error) {
	if err := c.flow.jobs.ExtendTurn(ctx, c.job.ID, c.holder(), lifecycle.ServerTime); err != nil {
		return nil, false, err
	}
	isNew, err := prepare(ctx, c.reportCloning(ctx))
	if err != nil {
		return nil, false, err
	}
	if captured, err = c.flow.store.Changes.Trees(ctx, c.job.ID); err != nil || captured == nil {
		return nil, false, err
	}
	here, lost, err := c.workspace.IsAt(captured)
	c.Lost = here && lost // an earlier turn has found it, but may have ended before Claude was told
	if err != nil || here {
		return captured, false, err
	}
	restored, err := c.restore(ctx, captured)
	if err != nil || restored {
		return captured, false, err
	}
	c.Lost = true
	c.flow.log.Warn(
		"what earlier turns have changed is on another machine, and no copy of it is kept", "requestId", c.job.ID,
		"turn", c.job.Turn,
	)
	return captured, !isNew, nil
}

// restore restores what keep has stored. It returns false if that is not the given capture:
// its machine may have died before storing it.
func (c *Change) restore(ctx context.Context, captured workspace.Trees) (bool, error) {
	snapshot, err := c.copyOf(ctx, captured)
	if err != nil || snapshot == nil {
		return false, err
	}
	return true, c.workspace.Restore(ctx, snapshot)
}

// copyOf returns the stored copy of a capture; nil if there is none.
func (c *Change) copyOf(ctx context.Context, captured workspace.Trees) (snapshot workspace.Snapshot, err error) {
	text, err := c.flow.store.Changes.Snapshot(ctx, c.job.ID)
	if err != nil || text == nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &snapshot); err != nil || !snapshot.IsOf(captured) {
		return nil, err
	}
	return snapshot, nil
}

// ownFor is the time for which this machine is given to recover if it lacks descriptors or disk, for example.
// captureFor is that for a submitted change that is nowhere else: after it, Claude has to look at the change.
const (
	ownFor     = 3 * time.Second
	captureFor = 2 * time.Minute
)

// repeat does something again that fails because of this machine.
func (c *Change) repeat(ctx context.Context, most time.Duration, what string, do func() error) error {
	return workspace.RepeatOwn(ctx, c.flow.log.With("requestId", c.job.ID, "turn", c.job.Turn), most, what, do)
}

func (c *Change) snapshot(ctx context.Context, trees workspace.Trees) (s workspace.Snapshot, err error) {
	err = c.repeat(ctx, ownFor, "Copying a change", func() (err error) {
		s, err = c.workspace.Snapshot(ctx, trees)
		return err
	})
	return s, err
}

// keep stores a captured change: for people, and a copy for other machines. If there is no copy, it
// returns the reason, for people: only this machine has the change then.
func (c *Change) keep(ctx context.Context, captured store.Captured) (whyNot string, err error) {
	snapshot, err := c.snapshot(ctx, captured.Trees)
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	var text json.RawMessage
	switch {
	case err != nil:
		whyNot = err.Error()
	case snapshot == nil:
		whyNot = fmt.Sprintf("it is larger than %s, compressed: see CHANGE_LIMIT", c.workspace.SnapshotLimit())
	default:
		text = job.MustJSON(snapshot)
	}
	if whyNot != "" {
		c.flow.log.Warn("change not copied for other machines", "requestId", c.job.ID, "turn", c.job.Turn, "error", whyNot)
	}
	err = c.flow.store.Changes.SaveSnapshot(ctx, c.job.ID, c.job.Turn, text, func(head map[string]any) error {
		return c.flow.jobs.SaveChange(ctx, c.job.ID, c.holder(), captured.Parts(head))
	})
	if err == nil && whyNot == "" {
		err = c.flow.jobs.KeepSubmission(ctx, c.job.ID, c.holder())
	}
	return whyNot, err
}
