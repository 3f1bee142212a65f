package runner

import (
	"context"
	"sync"
	"time"

	"ringback/internal/store"
)

// keepAlive says that this node lives, as long as it has turns, and has the turns of
// nodes that are silent queued again. With each heartbeat it compares its own turns with
// the store, in case an event was missed.
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
			r.keepTrying(serving)
		}
	}
}

// signal gives a sign of life, and returns the nodes that have not for too long.
func (r *Runner) signal(ctx context.Context) ([]string, error) {
	begun := store.Uptime()
	silent, err := r.store.Heartbeat(ctx, r.nodeDir.node, r.limits.account())
	if err != nil || !r.beats.note(begun, store.Uptime()) {
		return nil, err
	}
	return silent, nil
}

// beats knows which of this node's heartbeats have reached the store. While some have not, those of
// other nodes may not have either, if the store was away: that they count as silent says nothing
// then. It does again once they have had time to give a sign of life.
type beats struct {
	nodeTimeout time.Duration

	mu sync.Mutex
	// last is when the latest was sent, since when none is missing: store.Uptime.
	last, since time.Duration
}

// note notes a heartbeat that has reached the store, and reports whether those of other nodes would
// have, too, for as long as it takes to count as silent.
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

// latest is when the latest was sent; zero before the first.
func (b *beats) latest() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == 0 {
		return time.Time{}
	}
	return time.Now().Add(b.last - store.Uptime())
}

// becomeAlive gives a sign of life where the last may not count any more, since the node
// was paused: what it took now would be missed by nobody if it died before the next.
func (r *Runner) becomeAlive(ctx context.Context) error {
	if r.beats.isRecent(2 * r.opts.Heartbeat) {
		return nil
	}
	_, err := r.signal(ctx)
	return err
}

// farewell is the last sign of life: whoever is to take over what is left here, if no
// further start does, must not have forgotten this node.
func (r *Runner) farewell() {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if _, err := r.signal(ctx); err != nil {
		r.log.Warn("the last heartbeat did not reach the store", "error", err)
	}
}

// beat gives a sign of life, and takes over what silent nodes have left.
func (r *Runner) beat(ctx context.Context) {
	silent, err := r.signal(ctx)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("the heartbeat did not reach the store", "error", err)
	}
	for _, node := range silent {
		lost, err := r.store.Lost(ctx, node)
		if err != nil {
			return
		}
		for _, taken := range lost {
			if found, err := r.jobs.LoseNode(ctx, taken); err == nil && found {
				r.log.Warn("took over a job from a lost node", "requestId", taken.JobID)
				r.takeOverTry(ctx, taken.JobID)
			}
		}
	}
}
