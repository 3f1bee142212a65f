package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"ringback/internal/store"
)

// startMembership waits for the store, and makes this server one of those that use it.
func (n *node) startMembership(ctx context.Context) (stop func(), err error) {
	if err := n.prepare(ctx); err != nil {
		return nil, err
	}
	n.unwanted = make(chan error, 1)
	return running(n.stay), nil
}

// prepare checks the store and prepares it for this version.
func (n *node) prepare(ctx context.Context) (err error) {
	if n.isCopy, err = n.db.isCopy(ctx, n.opts); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	return n.untilAvailable(ctx, func(ctx context.Context) error {
		if err := n.judgeStore(ctx); err != nil {
			return err
		}
		if err := n.store.Nodes.Join(ctx, n.name()); err != nil {
			return err
		}
		return n.store.Prepare(ctx)
	})
}

// storePatience limits the time for which a start waits for a Redis that is not available.
const storePatience = 15 * time.Second

// untilAvailable repeats a call that fails because the store is not available yet, as when it is just starting.
func (n *node) untilAvailable(ctx context.Context, call func(context.Context) error) error {
	patience := time.After(storePatience)
	for {
		err := call(ctx)
		_, isUnfit := errors.AsType[unfit](err)
		if err == nil || isUnfit || errors.Is(err, store.ErrFormat) || errors.Is(err, store.ErrHeld) {
			return err
		}
		n.log.Warn("waiting for the store", "store", n.db.description, "error", err)
		select {
		case <-time.After(time.Second):
			continue
		case <-ctx.Done():
		case <-patience:
		}
		if full := checkDataDir(n.opts.Config.DataDir); n.db.embedded != nil && full != nil {
			err = full
		}
		return fmt.Errorf("the store (%s) does not answer: %w", n.db.description, err)
	}
}

// name identifies this server among those that use the store, also for people. It is the same after
// a restart.
func (n *node) name() string {
	host, _ := os.Hostname()
	return host + " at " + n.listener.Addr().String()
}

// stay sends heartbeats until ctx ends: while they continue, no incompatible version starts, and the store stays
// in a format that this one reads. The node stops if this version must not continue.
func (n *node) stay(ctx context.Context) {
	ticker := time.NewTicker(n.opts.Config.NodeTimeout / 6)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			n.quit()
			return
		case <-ticker.C:
		}
		if err := n.store.Nodes.Stay(ctx, n.name()); errors.Is(err, store.ErrFormat) {
			n.unwanted <- err
			return
		}
	}
}

// quit lets another version start immediately.
func (n *node) quit() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := n.store.Nodes.Quit(ctx, n.name()); err != nil {
		n.log.Warn("could not notify other servers of the stop", "error", err)
	}
}
