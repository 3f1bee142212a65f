package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// scriptHook is called for each script, and sends it to Redis with send.
type scriptHook func(send func() error) error

func (scriptHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h scriptHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			return h(func() error { return next(ctx, cmd) })
		}
		return next(ctx, cmd)
	}
}

func (scriptHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// onBothHooked is storetest.OnBoth with a client to which hooks can be added.
func onBothHooked(t *testing.T, opts lifecycle.Options, check func(*testing.T, *storetest.Service, redis.UniversalClient)) {
	t.Helper()
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		s, embedded := storetest.InProcess(t, store.Options{Retention: opts.Retention})
		check(t, &storetest.Service{Store: s, Service: lifecycle.New(s, nil, opts)}, embedded.Client)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		rdb := storetest.PrivateRedis(t)
		check(t, storetest.New(t, rdb, opts), rdb)
	})
}

// twice sends each script twice, like a client that has lost the first response, and uses the second
// response.
var twice = scriptHook(func(send func() error) error {
	if err := send(); err != nil {
		return err
	}
	return send()
})

func TestACommitWhoseAnswerWasLostIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	onBothHooked(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		first := started(t, s)
		rdb.AddHook(twice)
		must.Get(s.AppendMessage(ctx, "u", first.SessionID, job.Text(job.FromAssistant, "By the way"), nil))(t)
		if _, total, err := s.AddBatch(ctx, first.ID, lifecycle.NewBatch{Index: 1, Digest: "d", Items: json.RawMessage(`[1]`), Count: 1, Others: lifecycle.AnyOthers}); err != nil || total != 1 {
			t.Errorf("%d items, %v", total, err)
		}
		outcome, id, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
			RequestID: first.ID, UserID: "u", SessionID: first.SessionID, Type: job.Confirmation, Message: "Do it?", Chat: job.Text(job.FromAssistant, "Do it?"), Digest: "d",
		})
		if err != nil || outcome.Kind != lifecycle.Accepted {
			t.Fatal(outcome, err)
		}
		c := must.Get(s.Checkpoints.Get(ctx, id))(t)
		must.Get(s.Answer(ctx, c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: job.Approve}}))(t)
		must.OK(t, s.End(ctx, first.ID, job.Cancelled, job.CodeCancelled, "enough", lifecycle.Holder{}))
		second := create(t, s, newJob("second"))
		if now, err := s.Get(ctx, second.ID); err != nil || now.State != job.Pending {
			t.Errorf("%+v, %v", now, err)
		}
		messages, _, err := s.Chats.Messages(ctx, "u", first.SessionID, 0, 100)
		must.OK(t, err)
		var said []string
		for _, m := range messages {
			said = append(said, m.Content)
		}
		must.Equal(t, "By the way; Do it?; enough", strings.Join(said, "; "), "the chat reads")
		ends := 0
		for _, name := range eventsOf(t, s, first) {
			if name == "k:cancelled" {
				ends++
			}
		}
		must.Equal(t, 1, ends, "the end was told … times")
	})
}

// A command whose answer is lost takes effect once, whatever others commit before the client sends it
// again, and has the same answer.
func TestACommandWhoseAnswerWasLostIsDoneOnceAmongOthers(t *testing.T) {
	t.Parallel()
	onBothHooked(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		must.Get(s.Start(ctx, newChange("u")))(t)
		j := take(t, s).Job
		must.OK(t, s.SetPhase(ctx, j.ID, lifecycle.Holder{}, job.AtWork))
		var isLost atomic.Bool
		var end int64
		others := func() error { // Claude writes, a person writes, and the record changes
			end++
			said := []lifecycle.AssistantMessage{{End: end, Body: job.Text(job.FromAssistant, "I am reading")}}
			_, err := s.AppendMessage(ctx, "u", j.SessionID, job.Text(job.FromUser, "By the way"), nil)
			return errors.Join(err, s.AppendAssistantMessages(ctx, j.ID, 1, said), s.ExtendTurn(ctx, j.ID, lifecycle.Holder{}, 0))
		}
		rdb.AddHook(scriptHook(func(send func() error) error {
			err := send()
			if err != nil || !isLost.CompareAndSwap(true, false) {
				return err
			}
			return errors.Join(others(), send())
		}))
		steer := lifecycle.QueuedSteer{Reply: job.Reply{Decision: job.Steer, Text: "in blue", Reason: "in blue"}}
		for name, row := range map[string]struct {
			command func() error
			count   func(now job.Job, chat string) int
		}{
			"a message": {
				func() error {
					_, err := s.AppendMessage(ctx, "u", j.SessionID, job.Text(job.FromUser, "pay 5"), new(lifecycle.Addressee))
					return err
				},
				func(_ job.Job, chat string) int { return strings.Count(chat, "pay 5") },
			},
			"a steer": {
				func() error { _, err := s.EnqueueSteer(ctx, j.ID, steer, 5); return err },
				func(_ job.Job, chat string) int { return strings.Count(chat, "in blue") },
			},
			"an interrupt of the commands": {
				func() error { return s.Interrupt(ctx, j.ID, lifecycle.Interruption{}) },
				func(now job.Job, _ string) int {
					return map[job.InterruptScope]int{job.InterruptCommand: 1, job.InterruptTurn: 2}[now.Interrupt.Scope]
				},
			},
			"a batch": {
				func() error {
					batch := lifecycle.NewBatch{Index: 1, Digest: "d", Items: json.RawMessage(`[1]`), Count: 1, Others: 0}
					outcome, _, err := s.AddBatch(ctx, j.ID, batch)
					if outcome.Kind != lifecycle.Accepted {
						t.Errorf("the batch is %s", outcome)
					}
					return err
				},
				func(job.Job, string) int { return len(must.Get(s.Calls.Batches(ctx, j.ID))(t).Items) },
			},
		} {
			isLost.Store(true)
			must.OK(t, row.command(), name)
			if isLost.Load() {
				t.Errorf("%s made no commit", name)
			}
			messages, _, err := s.Chats.Messages(ctx, "u", j.SessionID, 0, 100)
			must.OK(t, err)
			var chat strings.Builder
			for _, m := range messages {
				chat.WriteString(m.Content + "; ")
			}
			must.Equal(t, 1, row.count(must.Get(s.Get(ctx, j.ID))(t), chat.String()), name, "was made … times:", chat.String())
		}
		isLost.Store(true)
		must.OK(t, s.Cancel(ctx, j.ID, job.Actor{}), "a cancellation whose answer was lost")
	})
}
