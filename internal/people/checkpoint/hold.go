package checkpoint

import (
	"context"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/store"
)

// waiters are the calls that wait for a reply: a channel for each job, which is closed when one arrives.
type waiters struct{ byJob sync.Map }

func (w *waiters) signal(id job.ID) <-chan struct{} {
	ch, _ := w.byJob.LoadOrStore(id, make(chan struct{}))
	return ch.(chan struct{})
}

func (w *waiters) wake(id job.ID) {
	if ch, waits := w.byJob.LoadAndDelete(id); waits {
		close(ch.(chan struct{}))
	}
}

// Event wakes the calls that wait for an event. A missed event delays them at most until they poll.
func (s *Service) Event(e store.EventEnvelope) {
	if e.Type == job.EventResolved {
		s.waiters.wake(e.RequestID)
	}
}

// Resubscribed wakes all calls, because events may have been missed.
func (s *Service) Resubscribed() {
	s.waiters.byJob.Range(func(id, _ any) bool {
		s.waiters.wake(id.(job.ID))
		return true
	})
}

// pollInterval is long, because thousands of calls may wait.
const pollInterval = 5 * time.Second

// Hold waits until a checkpoint is closed, or until the job parks at it; the returned checkpoint is
// still open then. It follows checkpoints that ask again.
func (s *Service) Hold(ctx context.Context, id job.CheckpointID) (job.Checkpoint, error) {
	c, err := s.store.Checkpoints.Get(ctx, id)
	if err != nil {
		return c, err
	}
	defer s.waiters.wake(c.RequestID)
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	end := time.NewTimer(s.opts.Hold)
	defer end.Stop()
	for {
		signal := s.waiters.signal(c.RequestID)
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
		c, err := s.store.Checkpoints.Get(ctx, id)
		if err != nil || c.Status != job.Superseded || c.Next == "" {
			return c, err
		}
		id = c.Next
	}
}
