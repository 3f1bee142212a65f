package outbox

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
)

// Queue holds the tasks of all nodes: store.Store.
type Queue interface {
	TakeTasks(ctx context.Context, p store.Partition, lease time.Duration, limit int) (due []store.Task, next time.Duration, err error)
	FinishTask(ctx context.Context, p store.Partition, t store.Task) error
	PostponeTask(ctx context.Context, p store.Partition, t store.Task, after time.Duration) error

	Notice(ctx context.Context, p store.Partition, t store.Task) (store.Notice, error)
	DelayNotice(ctx context.Context, p store.Partition, t store.Task, receiver, why string, after time.Duration) error
	NoticeTaken(ctx context.Context, receiver string) error
	GiveUpNotice(ctx context.Context, p store.Partition, t store.Task, why string) error
}

// Handlers do the tasks that end in our own store. Each may run more than once for
// one task. One that says NotFound has nothing left to do.
type Handlers struct {
	// StartReadingFunc lets Claude say what a reply means.
	StartReadingFunc func(context.Context, lifecycle.Round) error
	// FinishReadingFunc uses what Claude said; id is the job that read.
	FinishReadingFunc func(ctx context.Context, id job.ID) error
	// FollowFunc lets a job go on with the conversation of one that has ended.
	FollowFunc func(ctx context.Context, id job.ID) error
}

// Outbox does the tasks of a queue.
type Outbox struct {
	queue    Queue
	handlers Handlers
	notifier Notifier
	log      *slog.Logger
	// external are the tasks under way that call somebody else's server.
	external sync.WaitGroup
	// due says where there may be tasks.
	due *store.Schedule
}

// New returns an outbox. It works while Run does, and hears at once of new tasks
// where its Task is subscribed to the store, see store.Subscriber.
func New(queue Queue, handlers Handlers, notifier Notifier, log *slog.Logger) *Outbox {
	limit := newCallLimit()
	notifier.TrustedFunc, notifier.GuardedFunc = limit.bound(notifier.TrustedFunc), limit.bound(notifier.GuardedFunc)
	return &Outbox{queue: queue, handlers: handlers, notifier: notifier, log: log, due: store.NewSchedule()}
}

const (
	// lease is how long a task belongs to the node that took it: if the node dies, that
	// long nobody else does the task.
	lease = 20 * time.Second
	// externalLease is that of a task that calls somebody else's server.
	externalLease = time.Minute
	// maxTaken is how many tasks of one partition are taken at once.
	maxTaken = 16
)

// Run does tasks as they become due, until ctx ends; then it waits for those that
// are under way. Any number of nodes may run an outbox on one queue.
func (o *Outbox) Run(ctx context.Context) {
	defer o.external.Wait()
	o.due.Run(ctx, o.work)
}

// Task makes the outbox look for tasks in a partition now.
func (o *Outbox) Task(p store.Partition) { o.due.Now(p) }

// Resubscribed makes it look everywhere: it may have missed some.
func (o *Outbox) Resubscribed() { o.due.All() }

// work does the tasks of one partition that are due, and returns how long until the
// next one is; negative when there is none.
func (o *Outbox) work(ctx context.Context, p store.Partition) (next time.Duration, err error) {
	tasks, next, err := o.queue.TakeTasks(ctx, p, lease, maxTaken)
	if err != nil {
		return 0, err
	}
	var ours sync.WaitGroup
	for _, t := range tasks {
		if slices.Contains(lifecycle.Notices[:], t.Kind) { // their server may take its time: nobody waits for it
			o.external.Go(func() { o.notify(ctx, p, t) })
			continue
		}
		ours.Go(func() { o.perform(ctx, p, t) })
	}
	ours.Wait()
	return next, nil
}
