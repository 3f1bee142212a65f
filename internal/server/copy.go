package server

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/redisd"
)

// isCopy reports whether the store is a copy that this start may take over. A copy that it may not is an
// error: its original may have done since what the copy has yet to do, or may be running.
func (d *database) isCopy(ctx context.Context, o Options) (bool, error) {
	if d.embedded == nil {
		return false, nil
	}
	is, err := d.embedded.IsCopy(ctx)
	if is && !o.TakeOver {
		err = fmt.Errorf(
			"DATA_DIR %s holds a copy of another server's store. If its original is still used, set DATA_DIR to an empty directory. "+
				"If it is gone for good, start this one once with --take-over: what the original has done since may be done again", o.Config.DataDir)
	}
	return is, err
}

// settle makes the embedded store that of this place. It comes after everything that may refuse the start.
func (n *node) settle(ctx context.Context) error {
	if n.isCopy {
		ended, err := takeOver(ctx, n.store, n.jobs)
		if err != nil {
			return err
		}
		n.log.Warn("store taken over from its original", "endedApprovals", ended)
	}
	if n.db.embedded == nil {
		return nil
	}
	switch err := n.db.embedded.Settle(ctx); {
	case err == nil:
	case n.isCopy || !isFull(err): // on a full disk, the earlier mark is still valid
		return fmt.Errorf("DATA_DIR: the location of the store could not be recorded: %w", err)
	}
	return nil
}

// staySettled keeps the store recognizable until ctx ends.
func (n *node) staySettled(ctx context.Context) {
	if n.db.embedded == nil {
		return
	}
	ticker := time.NewTicker(redisd.SettleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := n.db.embedded.Settle(ctx); err != nil && ctx.Err() == nil {
				n.log.Debug("could not record the location of the store", "error", err)
			}
		}
	}
}

// takeOver makes a copied store usable once its original is gone. It returns the number of approvals that
// it has ended.
func takeOver(ctx context.Context, s *store.Store, jobs *lifecycle.Service) (ended int, err error) {
	open := slices.DeleteFunc(slices.Clone(job.States[:]), job.State.Terminal)
	err = eachJob(ctx, s, open, func(j job.Job) error {
		count, err := jobs.DoubtApprovals(ctx, j.ID)
		ended += count
		return err
	})
	return ended, err
}
