package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
)

// notify sends a notification and records the outcome: sent, given up, or to be retried.
func (o *Outbox) notify(ctx context.Context, p store.Partition, t store.Task) {
	log := o.log.With("task", t.Kind, "about", t.Ref)
	// A call in progress times out before another node may take the task.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noticeLease/2)
	defer cancel()
	d, err := o.prepare(ctx, p, t)
	if err == nil && d.address != "" {
		err = d.sendFunc(ctx, d.address, t.Ref, d.notice.Body)
	}
	ctx, cancelBooking := context.WithTimeout(context.WithoutCancel(ctx), noticeLease/4)
	defer cancelBooking()
	if err = o.book(ctx, p, t, d, err); err != nil {
		log.Warn("task not recorded as done: it will be repeated", "error", err)
	}
}

// book records the outcome of an attempt.
func (o *Outbox) book(ctx context.Context, p store.Partition, t store.Task, d delivery, err error) error {
	log := o.log.With("task", t.Kind, "about", t.Ref, "attempt", t.Attempt)
	switch {
	case job.HasKind(err, job.NotFound): // nothing is left to do
		log.Warn("task dropped: its subject no longer exists", "error", err)
		return o.queue.FinishTask(ctx, p, t)
	case err == nil && d.address == "":
		return o.leave(ctx, p, t, d.notice.Age)
	case err == nil:
		if err := o.queue.FinishTask(ctx, p, t); err != nil {
			return err
		}
		return o.queue.NoticeAccepted(ctx, d.receiver)
	case errors.Is(err, errBusy) || d.address == "": // no call was made
		after := busyWait + job.Jitter(busyWait)
		log.Info("notification delayed: too many calls", "in", after, "error", err)
		return o.postpone(p, after, o.queue.PostponeTask(ctx, p, t, after))
	}
	after, again := Retry(err, d.notice.Age)
	if !again {
		log.Error("notification given up", "error", err)
		return o.queue.GiveUpNotice(ctx, p, t, err.Error())
	}
	log.Warn("task failed, retrying", "in", after, "error", err)
	return o.postpone(p, after, o.queue.DelayNotice(ctx, p, t, d.receiver, err.Error(), after))
}

// errNoAddress is the reason why a notice is given up that no server can send.
const errNoAddress = "no server had the address of the receiver: set WEBHOOK_URL or SLACK_WEBHOOK_URL, and send it again"

// leave leaves a notice to a server that has the address of its receiver; this one has none. Another one
// takes it within seconds, or when it has restarted. A reply for which no server has an address concerns
// nobody.
func (o *Outbox) leave(ctx context.Context, p store.Partition, t store.Task, age time.Duration) error {
	switch {
	case age < leftFor:
		after := max(age/50, leaveWait)
		after += job.Jitter(after)
		return o.postpone(p, after, o.queue.PostponeTask(ctx, p, t, after))
	case t.Kind == lifecycle.TaskResume:
		return o.queue.FinishTask(ctx, p, t)
	}
	o.log.Error("notification given up", "task", t.Kind, "about", t.Ref, "error", errNoAddress)
	return o.queue.GiveUpNotice(ctx, p, t, errNoAddress)
}

// postpone schedules another poll of a partition, before the lease that the schedule knows
// of ends.
func (o *Outbox) postpone(p store.Partition, after time.Duration, err error) error {
	o.due.In(p, after+time.Millisecond)
	return err
}

// perform runs one of our own tasks and records the outcome: done, given up, or to be
// retried.
func (o *Outbox) perform(ctx context.Context, p store.Partition, t store.Task) {
	// A running task times out before another node may take it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease/2)
	defer cancel()
	log := o.log.With("task", t.Kind, "about", t.Ref, "attempt", t.Attempt)
	err := o.do(ctx, t)
	switch {
	case err == nil:
		err = o.queue.FinishTask(ctx, p, t)
	case job.HasKind(err, job.NotFound): // nothing is left to do
		log.Warn("task dropped: its subject no longer exists", "error", err)
		err = o.queue.FinishTask(ctx, p, t)
	case t.Attempt < maxAttempts:
		after := min(maxDelay, time.Second<<min(t.Attempt, 12))
		log.Warn("task failed, retrying", "in", after, "error", err)
		err = o.postpone(p, after, o.queue.PostponeTask(ctx, p, t, after))
	default:
		log.Error("task failed permanently", "error", err)
		err = o.queue.FinishTask(ctx, p, t)
	}
	if err != nil {
		log.Warn("task not recorded as done: it will be repeated", "error", err)
	}
}

// do calls the handler of one of our own tasks.
func (o *Outbox) do(ctx context.Context, t store.Task) error {
	switch t.Kind {
	case lifecycle.TaskUnderstand:
		return o.handlers.StartInterpretingFunc(ctx, store.RoundOf(t))
	case lifecycle.TaskRead:
		return o.handlers.FinishInterpretingFunc(ctx, job.ID(t.Ref))
	case lifecycle.TaskContinue:
		return o.handlers.FollowFunc(ctx, job.ID(t.Ref))
	default:
	}
	// During a rolling update, newer nodes may add tasks that only they know.
	return fmt.Errorf("this node does not support tasks of type %q", t.Kind)
}

const (
	// busyWait is the minimum wait before retrying a call for which no slot was free.
	busyWait = 5 * time.Second
	// leaveWait is the minimum time for which a notice is left to other servers, and leftFor the age from
	// which on none of them is expected to have the address.
	leaveWait, leftFor = 200 * time.Millisecond, 30 * time.Minute
	// maxDelay is the maximum wait before retrying one of our own tasks.
	maxDelay = time.Hour
	// maxAttempts is the number of attempts before one of our own tasks is given up, after
	// about a day.
	maxAttempts = 35
)
