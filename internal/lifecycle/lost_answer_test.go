package lifecycle_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
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
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		first := started(t, s)
		rdb.AddHook(twice)
		must.Get(s.AppendMessage(ctx, "u", first.SessionID, job.Text(job.FromAssistant, "By the way"), false))(t)
		if _, total, err := s.AddBatch(ctx, first.ID, lifecycle.NewBatch{Index: 1, Digest: "d", Items: json.RawMessage(`[1]`), Count: 1, Others: lifecycle.AnyOthers}); err != nil || total != 1 {
			t.Errorf("%d items, %v", total, err)
		}
		outcome, id, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
			RequestID: first.ID, UserID: "u", SessionID: first.SessionID, Type: job.Confirmation, Message: "Do it?", Chat: job.Text(job.FromAssistant, "Do it?"), Digest: "d",
		})
		if err != nil || outcome.Kind != lifecycle.Accepted {
			t.Fatal(outcome, err)
		}
		c := must.Get(s.Checkpoint(ctx, id))(t)
		must.Get(s.Answer(ctx, c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: job.Approve}}))(t)
		must.OK(t, s.End(ctx, first.ID, job.Cancelled, job.CodeCancelled, "enough", lifecycle.Holder{}))
		second := create(t, s, newJob("second"))
		if now, err := s.Get(ctx, second.ID); err != nil || now.State != job.Pending {
			t.Errorf("%+v, %v", now, err)
		}
		messages, _, err := s.Messages(ctx, "u", first.SessionID, 0, 100)
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
