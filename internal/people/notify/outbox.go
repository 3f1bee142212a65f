package notify

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
)

// Queue contains the tasks of all nodes. store.Tasks implements it.
type Queue interface {
	LeaseTasks(
		ctx context.Context, p store.Partition, own, notice time.Duration, limit int,
	) (due []store.Task, next time.Duration, err error)
	FinishTask(ctx context.Context, p store.Partition, t store.Task) error
	PostponeTask(ctx context.Context, p store.Partition, t store.Task, after time.Duration) error

	Notice(ctx context.Context, p store.Partition, t store.Task) (store.Notice, error)
	DelayNotice(ctx context.Context, p store.Partition, t store.Task, receiver, why string, after time.Duration) error
	NoticeAccepted(ctx context.Context, receiver string) error
	GiveUpNotice(ctx context.Context, p store.Partition, t store.Task, why string) error
}

// Handlers run the tasks that only affect our own store. A handler may be called more than
// once for one task. It returns NotFound if nothing is left to do.
type Handlers struct {
	// StartInterpretingFunc starts Claude's interpretation of a reply.
	StartInterpretingFunc func(context.Context, lifecycle.Round) error
	// FinishInterpretingFunc uses that interpretation; id is the job that read the reply.
	FinishInterpretingFunc func(ctx context.Context, id job.ID) error
	// FollowFunc starts a job that continues the conversation of one that has ended.
	FollowFunc func(ctx context.Context, id job.ID) error
}

// Outbox runs the tasks of a queue.
type Outbox struct {
	queue    Queue
	handlers Handlers
	notifier Notifier
	log      *slog.Logger
	// external contains the running tasks that call external servers.
	external sync.WaitGroup
	// due schedules the partitions that may have tasks.
	due *store.Schedule
}

// NewOutbox returns an outbox, which works while Run does. To learn of new tasks immediately,
// subscribe its Task to the store, see store.Subscriber.
func NewOutbox(queue Queue, handlers Handlers, notifier Notifier, log *slog.Logger) *Outbox {
	limit := newCallLimit()
	notifier.TrustedFunc, notifier.GuardedFunc = limit.bound(notifier.TrustedFunc), limit.bound(notifier.GuardedFunc)
	return &Outbox{queue: queue, handlers: handlers, notifier: notifier, log: log, due: store.NewSchedule()}
}

const (
	// lease is the time for which a task belongs to the node that took it, and for which it
	// is delayed if the node dies.
	lease = 20 * time.Second
	// noticeLease is the lease of a task that calls an external server.
	noticeLease = time.Minute
	// maxLeased is the maximum number of tasks of one partition that are leased at once.
	maxLeased = 16
)

// Run runs tasks as they become due, until ctx ends; then it waits for the running ones.
// Any number of nodes may run an outbox on one queue.
func (o *Outbox) Run(ctx context.Context) {
	defer o.external.Wait()
	o.due.Run(ctx, o.work)
}

// Task makes the outbox check a partition for tasks now.
func (o *Outbox) Task(p store.Partition) { o.due.Now(p) }

// Resubscribed makes it check all partitions, because it may have missed tasks.
func (o *Outbox) Resubscribed() { o.due.All() }

// work runs the tasks of one partition that are due, and returns the time until the next
// one is; negative if there is none.
func (o *Outbox) work(ctx context.Context, p store.Partition) (next time.Duration, err error) {
	tasks, next, err := o.queue.LeaseTasks(ctx, p, lease, noticeLease, maxLeased)
	if err != nil {
		return 0, err
	}
	var ours sync.WaitGroup
	for _, t := range tasks {
		if slices.Contains(lifecycle.Notices[:], t.Kind) { // an external server may be slow: do not wait for it
			o.external.Go(func() { o.notify(ctx, p, t) })
			continue
		}
		ours.Go(func() { o.perform(ctx, p, t) })
	}
	ours.Wait()
	return next, nil
}
