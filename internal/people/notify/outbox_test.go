package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/test/must"
)

// queue is an in-memory queue with one partition.
type queue struct {
	mu       sync.Mutex
	due      map[task]time.Time
	attempts map[task]int
	since    time.Time
	givenUp  int
	// booked counts the bookings; unbooked are those that fail, as if Redis were down.
	booked   int
	unbooked []int
}

// task is a store.Task without its attempt.
type task struct {
	kind lifecycle.TaskKind
	ref  string
}

func newQueue(tasks ...task) *queue {
	q := &queue{due: map[task]time.Time{}, attempts: map[task]int{}, since: time.Now()}
	for _, t := range tasks {
		q.due[t] = time.Now()
	}
	return q
}

func (q *queue) LeaseTasks(_ context.Context, p store.Partition, own, notice time.Duration, limit int) (taken []store.Task, next time.Duration, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	next = -1
	if p != 0 {
		return nil, next, nil
	}
	for t, due := range q.due {
		if !due.After(time.Now()) && len(taken) < limit {
			lease := own
			if slices.Contains(lifecycle.Notices[:], t.kind) {
				lease = notice
			}
			q.due[t] = time.Now().Add(lease)
			q.attempts[t]++
			taken = append(taken, store.Task{Kind: t.kind, Ref: t.ref, Attempt: q.attempts[t]})
		}
		if left := max(0, time.Until(q.due[t])); next < 0 || left < next {
			next = left
		}
	}
	return taken, next, nil
}

func (q *queue) FinishTask(_ context.Context, _ store.Partition, t store.Task) error {
	return q.book(func() { delete(q.due, task{t.Kind, t.Ref}) })
}

func (q *queue) PostponeTask(_ context.Context, _ store.Partition, t store.Task, after time.Duration) error {
	return q.book(func() { q.due[task{t.Kind, t.Ref}] = time.Now().Add(after) })
}

func (q *queue) Notice(_ context.Context, _ store.Partition, t store.Task) (store.Notice, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := noticeOf(task{t.Kind, t.Ref})
	n.Age = time.Since(q.since)
	return n, nil
}

func (q *queue) DelayNotice(ctx context.Context, p store.Partition, t store.Task, _, _ string, after time.Duration) error {
	return q.PostponeTask(ctx, p, t, after)
}

func (q *queue) NoticeAccepted(context.Context, string) error { return nil }

func (q *queue) GiveUpNotice(ctx context.Context, p store.Partition, t store.Task, _ string) error {
	q.mu.Lock()
	q.givenUp++
	q.mu.Unlock()
	return q.FinishTask(ctx, p, t)
}

func (q *queue) book(change func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.booked++; slices.Contains(q.unbooked, q.booked) {
		return errors.New("connection refused")
	}
	change()
	return nil
}

func (q *queue) left() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.due)
}

// errGone is the store's error for a deleted record.
var errGone = job.Errorf(job.NotFound, "There is no such job")

var errAway = errors.New("the store is away")

func TestTasksAreTriedUntilTheyAreDone(t *testing.T) {
	t.Parallel()
	ours, theirs := task{lifecycle.TaskRead, "req_1"}, task{lifecycle.TaskWebhook, "ended|req_1|1"}
	refused := &notify.CallError{Status: http.StatusGone}
	cases := []struct {
		name string
		task task
		// answers are the handler's results, one per attempt; then nil.
		answers []error
		// unbooked are the bookings that fail, counted from 1.
		unbooked []int
		// at is the time of each attempt.
		at []time.Duration
	}{
		{"one that succeeds is done once", ours, nil, nil, seconds(0)},
		{"one that fails is tried again, later each time", ours, []error{errAway, errAway, errAway}, nil, seconds(0, 2, 6, 14)},
		{"one about a job that was deleted is done", ours, []error{errGone, errAway}, nil, seconds(0)},
		{"one that could not be booked is done again after the lease", ours, nil, []int{1}, seconds(0, 20)},
		{"one that failed and could not be booked, too", ours, []error{errAway}, []int{1}, seconds(0, 20)},
		{"a follow-up of a kind that was removed is done", task{lifecycle.TaskContinue, "req_1"}, []error{errGone, errAway}, nil, seconds(0)},
		{"a webhook that is away is called again as it asks", theirs, []error{&notify.CallError{Status: 503, After: 7 * time.Second}}, nil, seconds(0, 7)},
		{"a webhook that is gone is not called again", theirs, []error{refused, errAway}, nil, seconds(0)},
		{"a webhook has a longer lease", theirs, nil, []int{1}, seconds(0, 60)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start, made := time.Now(), []time.Duration(nil)
				attempt := func() error {
					made = append(made, time.Since(start).Truncate(time.Second))
					if len(made) > len(c.answers) {
						return nil
					}
					return c.answers[len(made)-1]
				}
				q := newQueue(c.task)
				q.unbooked = c.unbooked
				run(t, q, attempt)
				time.Sleep(30 * time.Hour)
				synctest.Wait()
				must.Equal(t, c.at, made, "attempts")
				must.Equal(t, 0, q.left(), "tasks are left")
			})
		})
	}
}

// run runs an outbox until the test ends; attempt handles each task, of any kind.
func run(t *testing.T, q *queue, attempt func() error) *notify.Outbox {
	t.Helper()
	handlers := notify.Handlers{
		StartInterpretingFunc:  func(context.Context, lifecycle.Round) error { return attempt() },
		FinishInterpretingFunc: func(context.Context, job.ID) error { return attempt() },
		FollowFunc:             func(context.Context, job.ID) error { return attempt() },
	}
	called := func(context.Context, string, string, []byte) error { return attempt() }
	return runWith(t, q, handlers, notify.Notifier{
		Addresses: notify.Addresses{Webhook: "https://hook.example"}, TrustedFunc: called, GuardedFunc: called,
	})
}

func runWith(t *testing.T, q *queue, handlers notify.Handlers, notifier notify.Notifier) *notify.Outbox {
	t.Helper()
	o := notify.NewOutbox(q, handlers, notifier, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); o.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return o
}

func seconds(n ...int) []time.Duration {
	all := make([]time.Duration, len(n))
	for i, s := range n {
		all[i] = time.Duration(s) * time.Second
	}
	return all
}

func TestTaskOfANewerNodeIsLeftToNewerNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(task{"of-the-future", "req_1"})
		run(t, q, func() error { t.Error("a handler was called"); return nil })
		time.Sleep(6 * time.Hour)
		synctest.Wait()
		must.Equal(t, 1, q.left(), "the task is gone")
		time.Sleep(30 * time.Hour)
		synctest.Wait()
		must.Equal(t, 0, q.left(), "the task is never given up")
	})
}

func TestSlowServerOfOthersHoldsUpNothingOfOurs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung, read := make(chan struct{}), make(chan time.Time, 1)
		q := newQueue(task{lifecycle.TaskWebhook, "ended|req_1|1"})
		hang := func(ctx context.Context, _, _ string, _ []byte) error {
			close(hung)
			<-ctx.Done()
			return nil
		}
		o := runWith(t, q, notify.Handlers{
			FinishInterpretingFunc: func(context.Context, job.ID) error { read <- time.Now(); return nil },
		}, notify.Notifier{Addresses: notify.Addresses{Webhook: "https://hook.example"}, TrustedFunc: hang})
		<-hung
		start := time.Now()
		q.mu.Lock()
		q.due[task{lifecycle.TaskRead, "req_2"}] = start
		q.mu.Unlock()
		o.Task(0)
		if took := (<-read).Sub(start); took > 0 {
			t.Errorf("a task of ours waited %s", took)
		}
	})
}

// A stopping node finishes what it has begun, and no other node does it again.
func TestTaskUnderWayIsFinishedBeforeAnOutboxStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{})
		q := newQueue(task{lifecycle.TaskWebhook, "ended|req_1|1"})
		slow := func(ctx context.Context, _, _ string, _ []byte) error {
			close(begun)
			time.Sleep(10 * time.Second)
			return ctx.Err()
		}
		o := notify.NewOutbox(q, notify.Handlers{}, notify.Notifier{
			Addresses: notify.Addresses{Webhook: "https://hook.example"}, TrustedFunc: slow,
		}, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		go func() { <-begun; stop() }()
		o.Run(ctx)
		must.Equal(t, 0, q.left(), "the task is left")
	})
}

// A receiver that never responds occupies only a few calls, and does not delay others.
func TestAReceiverThatHangsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const notices = 40
		tasks := []task{{lifecycle.TaskSlack, "ended|req_1|1"}}
		for i := range notices {
			tasks = append(tasks, task{lifecycle.TaskWebhook, "ended|req_1|" + strconv.Itoa(i)})
		}
		q := newQueue(tasks...)
		var underWay, most, told atomic.Int64
		runWith(t, q, notify.Handlers{}, notify.Notifier{
			Addresses: notify.Addresses{Webhook: "https://hangs.example", Slack: "https://works.example"},
			TrustedFunc: func(ctx context.Context, address, _ string, _ []byte) error {
				if address == "https://works.example" {
					told.Add(1)
					return nil
				}
				most.Store(max(most.Load(), underWay.Add(1)))
				defer underWay.Add(-1)
				<-ctx.Done()
				return &notify.CallError{Cause: ctx.Err()}
			},
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		if most.Load() > 8 || told.Load() != 1 {
			t.Errorf("the receiver that hangs had %d calls under way, the other was told %d times; want at most 8, and 1", most.Load(), told.Load())
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		q.mu.Lock()
		defer q.mu.Unlock()
		for _, task := range tasks[1:] {
			if q.attempts[task] == 0 {
				t.Errorf("%s was never tried", task.ref)
			}
		}
	})
}
