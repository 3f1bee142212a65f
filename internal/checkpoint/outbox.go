package checkpoint

import (
	"context"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/store"
)

// lease is how long a task belongs to the node that took it.
const lease = time.Minute

// Run does what is to be done outside of Redis, until ctx ends. Any number of
// nodes may run it: each task is done at least once, and doing it again changes
// nothing.
func (s *Service) Run(ctx context.Context) {
	defer s.calls.Wait()
	for ctx.Err() == nil {
		wait := time.Second
		for p := range store.Partition(store.Partitions) {
			next, err := s.work(ctx, p)
			if err != nil {
				break // the store is away
			}
			if next >= 0 {
				wait = min(wait, next+time.Millisecond)
			}
		}
		select {
		case <-ctx.Done():
		case <-s.nudge:
		case <-time.After(wait):
		}
	}
}

// Wake makes the service look for tasks.
func (s *Service) Wake(store.Partition) {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

// work does the tasks of one partition that are due.
func (s *Service) work(ctx context.Context, p store.Partition) (time.Duration, error) {
	tasks, next, err := s.store.TakeTasks(ctx, p, lease, 16)
	if err != nil {
		return 0, err
	}
	var running sync.WaitGroup
	for _, t := range tasks {
		if callsOut(t.Kind) { // and may take its time: nobody waits for it
			s.calls.Go(func() { s.perform(ctx, p, t) })
			continue
		}
		running.Go(func() { s.perform(ctx, p, t) })
	}
	running.Wait()
	return next, nil
}

// perform does one task, and lets it be done again later if it failed.
func (s *Service) perform(ctx context.Context, p store.Partition, t store.Task) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease/2)
	defer cancel()
	err := s.do(ctx, t)
	if err == nil {
		err = s.store.FinishTask(ctx, p, t)
	} else if later, again := s.retry(t, err); again {
		s.log.Warn("a task failed and will be repeated", "task", t.Kind, "about", t.Ref, "attempt", t.Attempt, "in", later, "error", err)
		err = s.store.PostponeTask(ctx, p, t, later)
	} else {
		s.log.Error("a task failed for good", "task", t.Kind, "about", t.Ref, "attempts", t.Attempt, "error", err)
		err = s.store.FinishTask(ctx, p, t)
	}
	if err != nil {
		s.log.Warn("a task could not be booked: it will be done again", "task", t.Kind, "about", t.Ref, "error", err)
	}
}

// callsOut reports whether a task calls somebody else's server.
func callsOut(k store.TaskKind) bool {
	return k == store.TaskResume || k == store.TaskWebhook || k == store.TaskSlack
}

// retry says when a task that failed is tried again: with growing delays, for a
// day.
func (s *Service) retry(t store.Task, err error) (time.Duration, bool) {
	if callsOut(t.Kind) && s.opts.Retry != nil {
		return s.opts.Retry(err, t.Attempt)
	}
	return min(time.Hour, time.Second<<min(t.Attempt, 12)), t.Attempt < 35
}

func (s *Service) do(ctx context.Context, t store.Task) error {
	switch t.Kind {
	case store.TaskUnderstand:
		return s.startReading(ctx, store.ReadingOf(t))
	case store.TaskRead:
		return s.finishReading(ctx, job.ID(t.Ref))
	case store.TaskContinue:
		return s.continueConversation(ctx, job.ID(t.Ref))
	case store.TaskResume:
		return s.resume(ctx, job.CheckpointID(t.Ref))
	case store.TaskWebhook, store.TaskSlack:
		return s.tell(ctx, t)
	}
	s.log.Error("an unknown task", "task", t.Kind)
	return nil
}
