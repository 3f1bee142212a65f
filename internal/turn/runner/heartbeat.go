package runner

import (
	"context"
	"errors"
	"sync"
	"time"

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
	silent, err := r.store.Heartbeat(ctx, r.nodeDir.node, r.rateLimits.account(), r.self)
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

// isRecent reports whether a heartbeat was sent within a duration.
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
		err = r.letGoOfName(ctx)
	}
	if err != nil {
		r.log.Warn("the last heartbeat did not reach the store", "error", err)
	}
}

// beat sends a heartbeat, and takes over the turns of silent nodes.
func (r *Runner) beat(ctx context.Context) {
	silent, err := r.signal(ctx)
	if errors.Is(err, store.ErrHeld) {
		err = r.holdAgain(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("the heartbeat did not reach the store", "error", err)
	}
	for _, node := range silent {
		lost, err := r.store.Lost(ctx, node)
		if err != nil && ctx.Err() == nil {
			r.log.Warn("not all turns of a lost node could be found", "node", node, "error", err)
		}
		for _, taken := range lost {
			if found, err := r.jobs.LoseNode(ctx, taken); err == nil && found {
				r.log.Warn("took over a job from a lost node", "requestId", taken.JobID)
				r.releaseProbe(ctx, probe{taken.JobID, r.rateLimits.account()})
			}
		}
	}
}
