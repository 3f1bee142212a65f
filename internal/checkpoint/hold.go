package checkpoint

import (
	"context"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/store"
)

// waiters are the calls that wait for a reply, by job.
type waiters struct {
	mu    sync.Mutex
	byJob map[job.ID]map[chan struct{}]bool
}

func (w *waiters) add(id job.ID) (signal <-chan struct{}, remove func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byJob == nil {
		w.byJob = map[job.ID]map[chan struct{}]bool{}
	}
	if w.byJob[id] == nil {
		w.byJob[id] = map[chan struct{}]bool{}
	}
	w.byJob[id][ch] = true
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.byJob[id], ch)
		if len(w.byJob[id]) == 0 {
			delete(w.byJob, id)
		}
	}
}

func (w *waiters) wake(id job.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.byJob[id] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Event wakes the calls that wait for an event. A missed event does no harm, because waiting calls
// also poll.
func (s *Service) Event(e store.EventEnvelope) {
	if e.Type == job.EventResolved {
		s.waiters.wake(e.RequestID)
	}
}

const pollInterval = time.Second

// Hold waits until a checkpoint is closed, or until the job parks at it; the returned checkpoint is
// still open then. It follows checkpoints that ask again.
func (s *Service) Hold(ctx context.Context, id job.CheckpointID) (job.Checkpoint, error) {
	c, err := s.store.Checkpoint(ctx, id)
	if err != nil {
		return c, err
	}
	signal, remove := s.waiters.add(c.RequestID)
	defer remove()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	end := time.NewTimer(s.opts.Hold)
	defer end.Stop()
	for {
		if c, err = s.follow(ctx, c.ID); err != nil {
			return c, err
		}
		if !c.Status.Waits() || !c.Held {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return c, ctx.Err()
		case <-end.C:
			if err := s.jobs.StopWaiting(ctx, c.RequestID, c.ID); err != nil {
				return c, err
			}
		case <-signal:
		case <-ticker.C:
		}
	}
}

// follow returns a checkpoint, or the one that replaced it by asking again.
func (s *Service) follow(ctx context.Context, id job.CheckpointID) (job.Checkpoint, error) {
	for {
		c, err := s.store.Checkpoint(ctx, id)
		if err != nil || c.Status != job.Superseded || c.Next == "" {
			return c, err
		}
		id = c.Next
	}
}
