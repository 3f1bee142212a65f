package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/notify"
	"ringback/internal/store"
)

// performExternal does a task that calls somebody else's server, which may take
// longer than a task of ours.
func (o *Outbox) performExternal(ctx context.Context, p store.Partition, t store.Task) {
	if err := o.queue.PostponeTask(ctx, p, t, externalLease); err != nil {
		o.log.Warn("a task could not be kept: it will be taken again", "task", t.Kind, "about", t.Ref, "error", err)
		return
	}
	o.perform(ctx, p, t, externalLease)
}

// perform does one task and books it: as done, as given up, or to be tried again.
func (o *Outbox) perform(ctx context.Context, p store.Partition, t store.Task, lease time.Duration) {
	// A task that has begun ends by itself, before another node may take it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease/2)
	defer cancel()
	log := o.log.With("task", t.Kind, "about", t.Ref, "attempt", t.Attempt)
	err := o.do(ctx, t)
	after, again := retry(t, err)
	switch {
	case err == nil:
		err = o.queue.FinishTask(ctx, p, t)
	case isGone(err):
		log.Warn("a task is about something that no longer exists", "error", err)
		err = o.queue.FinishTask(ctx, p, t)
	case errors.Is(err, errBusy):
		after = busyWait + time.Duration(rand.Int64N(int64(busyWait))) //nolint:gosec // jitter needs no secrecy
		err = o.queue.ReturnTask(ctx, p, t, after)
		o.due.In(p, after+time.Millisecond)
	case again:
		log.Warn("a task failed and will be repeated", "in", after, "error", err)
		err = o.queue.PostponeTask(ctx, p, t, after)
		o.due.In(p, after+time.Millisecond) // before the lease ends, of which it was told
	default:
		log.Error("a task failed for good", "error", err)
		err = o.queue.FinishTask(ctx, p, t)
	}
	if err != nil {
		log.Warn("a task could not be booked: it will be done again", "error", err)
	}
}

// do hands a task to what does it.
func (o *Outbox) do(ctx context.Context, t store.Task) error {
	switch t.Kind {
	case lifecycle.TaskUnderstand:
		return o.handlers.StartReadingFunc(ctx, store.RoundOf(t))
	case lifecycle.TaskRead:
		return o.handlers.FinishReadingFunc(ctx, job.ID(t.Ref))
	case lifecycle.TaskContinue:
		return o.handlers.FollowFunc(ctx, job.ID(t.Ref))
	case lifecycle.TaskResume:
		return o.notifier.answered(ctx, job.CheckpointID(t.Ref))
	case lifecycle.TaskWebhook, lifecycle.TaskSlack:
		return o.notifier.notify(ctx, t)
	}
	// While nodes are being updated, a newer one may add tasks that only newer ones know.
	return fmt.Errorf("this node does not know tasks of the kind %q", t.Kind)
}

// external reports whether a task calls somebody else's server.
func external(k lifecycle.TaskKind) bool {
	return k == lifecycle.TaskResume || k == lifecycle.TaskWebhook || k == lifecycle.TaskSlack
}

const (
	// busyWait is how long at least a call waits for which there was no room.
	busyWait = 5 * time.Second
	// maxDelay bounds how long one of our own tasks waits before it is tried again.
	maxDelay = time.Hour
	// maxAttempts are tried before one of our own tasks is given up: after a day.
	maxAttempts = 35
)

// retry says whether a task that failed is tried again, and after how long. Whoever
// is called from outside has a say in that.
func retry(t store.Task, err error) (after time.Duration, again bool) {
	if external(t.Kind) {
		return notify.Retry(err, t.Attempt)
	}
	return min(maxDelay, time.Second<<min(t.Attempt, 12)), t.Attempt < maxAttempts
}

// isGone reports whether what a task is about was deleted: then nothing is left to
// be done.
func isGone(err error) bool {
	e, ok := errors.AsType[*job.Error](err)
	return ok && e.Kind == job.NotFound
}
