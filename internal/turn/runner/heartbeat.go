package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ringback/internal/sandbox/process"
	"ringback/internal/store"
)

// keepAlive sends heartbeats as long as this node has turns, and requeues the turns of
// silent nodes. With each heartbeat it compares its own turns with the store, in case an
// event was missed.
func (r *Runner) keepAlive(serving context.Context) {
	ticker := time.NewTicker(r.opts.Heartbeat)
	defer ticker.Stop()
	for {
		r.beat(serving)
		select {
		case <-serving.Done():
			return
		case <-ticker.C:
			r.checkAll()
			r.renewProbe(serving)
		}
	}
}

// signal sends a heartbeat, and returns the nodes that have sent none for too long.
func (r *Runner) signal(ctx context.Context) ([]string, error) {
	begun := store.Uptime()
	silent, err := r.store.Nodes.Heartbeat(ctx, r.nodeDir.node, r.rateLimits.account(), r.self)
	if err != nil || !r.beats.note(begun, store.Uptime()) {
		return nil, err
	}
	return silent, nil
}

// beats tracks which of this node's heartbeats have reached the store. If some did not, the store
// may have been unavailable, and the silence of other nodes means nothing. It counts again once
// they have had time to send a heartbeat.
type beats struct {
	nodeTimeout time.Duration

	mu sync.Mutex
	// last is the time of the latest heartbeat; since is the beginning of the current period without a
	// missing one. Both are store.Uptime values.
	last, since time.Duration
}

// note records a heartbeat that has reached the store. It reports whether other nodes could also
// have reached the store for as long as it takes to count as silent.
func (b *beats) note(sent, answered time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == 0 || answered-b.last > b.nodeTimeout*2/3 {
		b.since = answered
	}
	b.last = sent
	return answered-b.since >= b.nodeTimeout
}

func (b *beats) isRecent(within time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last > 0 && store.Uptime()-b.last < within
}

// latest returns when the latest heartbeat was sent; zero before the first.
func (b *beats) latest() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == 0 {
		return time.Time{}
	}
	return time.Now().Add(b.last - store.Uptime())
}

// becomeAlive sends a heartbeat if the last one may no longer count because the node was
// paused. Otherwise no other node would reclaim work that this node takes now if it died
// before its next heartbeat.
func (r *Runner) becomeAlive(ctx context.Context) error {
	if r.beats.isRecent(2 * r.opts.Heartbeat) {
		return nil
	}
	_, err := r.signal(ctx)
	return err
}

// farewell sends the last heartbeat. Other nodes must still know this node so that they
// can take over what is left here if it does not start again.
func (r *Runner) farewell() {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	_, err := r.signal(ctx)
	if err == nil {
		_, err = r.store.Nodes.Hold(ctx, r.nodeDir.node, "", r.self) // the next start takes the name at once
	}
	if err != nil {
		r.log.Warn("last heartbeat failed", "error", err)
	}
}

// beat sends a heartbeat, and takes over the turns of silent nodes.
func (r *Runner) beat(ctx context.Context) {
	silent, err := r.signal(ctx)
	if errors.Is(err, store.ErrHeld) {
		err = r.holdAgain(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("heartbeat failed", "error", err)
	}
	for _, node := range silent {
		lost, err := r.store.Nodes.Lost(ctx, node)
		if err != nil && ctx.Err() == nil {
			r.log.Warn("not all turns of a lost node could be found", "node", node, "error", err)
		}
		for _, taken := range lost {
			if found, err := r.jobs.LoseNode(ctx, taken); err == nil && found {
				r.log.Warn("job taken over from a lost node", "requestId", taken.JobID)
				r.releaseProbe(ctx, probe{taken.JobID, r.rateLimits.account()})
			}
		}
	}
}

// The name of a node outlives its server, so that the next start continues its turns. Copies of a data
// directory, and clones of a machine, have the same name, so the store knows which start of a server
// holds it. A start without the name takes no jobs, adopts nothing and ends nothing.

// Hold takes the name of this node. It returns store.ErrHeld if another server holds it and still runs.
// For a server in another container or on another machine, that is decided by its heartbeats.
func (r *Runner) Hold(ctx context.Context) error {
	var seen store.Holder
	for ended := ""; ; {
		other, err := r.store.Nodes.Hold(ctx, r.nodeDir.node, r.self, ended)
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
		// The other server may have another NODE_TIMEOUT, which is six times as long as there are between its heartbeats.
		wait := max(2*r.opts.Heartbeat, 2*other.Lapses/5)
		r.log.Info("waiting: another server may be using this node's name", "for", wait.String())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

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
