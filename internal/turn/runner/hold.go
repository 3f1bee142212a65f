package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringback/internal/sandbox/process"
	"ringback/internal/store"
)

// The name of a node outlives its server, so that the next start continues its turns. Copies of a data
// directory, and clones of a machine, have the same name, so the store knows which start of a server
// holds it. A start without the name takes no jobs, adopts nothing and ends nothing.

// Hold takes the name of this node. It returns store.ErrHeld if another server holds it and still runs.
// For a server in another container or on another machine, that is decided by its heartbeats.
func (r *Runner) Hold(ctx context.Context) error {
	var seen store.Holder
	for ended := ""; ; {
		other, err := r.store.Hold(ctx, r.nodeDir.node, r.self, ended)
		if err != nil || other.Start == "" {
			return err
		}
		here, runs := process.ServerOf(other.Start)
		hasEnded := here || r.opts.OwnStore || other.Start == seen.Start && other.Heartbeat == seen.Heartbeat
		switch {
		case here && runs, !hasEnded && other.Start == seen.Start:
			return fmt.Errorf(
				"DATA_DIR %s: %w (%s), so this is a copy of its directory, or of its machine. "+
					"Stop that server, or set DATA_DIR to an empty directory", r.opts.Dir, store.ErrHeld, r.nodeDir.node)
		case hasEnded:
			ended = other.Start
			continue
		}
		seen = other
		patience := max(2*r.opts.Heartbeat, 2*beatOf(other.Lapses))
		r.log.Info("waiting: another server may hold this node's name", "for", patience.String())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(patience):
		}
	}
}

// beatOf returns the most time between two heartbeats of a server that runs, by the time after which its last one
// lapses. It may have another NODE_TIMEOUT than this one: six times as long as there are between its heartbeats.
func beatOf(lapses time.Duration) time.Duration { return lapses / 5 }

// Superseded receives an error once another server has taken this node's name, because this one was
// silent.
func (r *Runner) Superseded() <-chan error { return r.superseded }

// holdAgain is called when another server holds the name. If that one runs, this one must end, and its
// processes with it: the other one continues their jobs.
func (r *Runner) holdAgain(ctx context.Context) error {
	err := r.Hold(ctx)
	if !errors.Is(err, store.ErrHeld) {
		return err
	}
	r.mu.Lock()
	for _, t := range r.owned {
		t.end(errSuperseded)
	}
	r.mu.Unlock()
	select {
	case r.superseded <- err:
	default:
	}
	return err
}

// letGoOfName lets the next start take the name at once.
func (r *Runner) letGoOfName(ctx context.Context) error {
	_, err := r.store.Hold(ctx, r.nodeDir.node, "", r.self)
	return err
}
