package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// askAndAnswer asks a question in a running turn, answers it after the turn, and returns the next turn.
func askAndAnswer(t *testing.T, s *storetest.Service, j job.Job, question, answer string) *lifecycle.Turn {
	t.Helper()
	ctx := t.Context()
	_, _, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
		RequestID: j.ID, UserID: j.UserID, SessionID: j.SessionID, Type: job.InformationRequest, Message: question,
		Chat: job.Text(job.FromAssistant, question), Digest: job.Digest([]byte(question)),
	})
	must.OK(t, err)
	must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{ID: j.ID, Turn: j.Turn, Node: "n", Begun: true, Spoken: true}))(t)
	asked := must.Get(s.Get(ctx, j.ID))(t)
	must.Get(s.Answer(ctx, *asked.Checkpoint, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Text: answer}}))(t)
	return take(t, s)
}

// The record is read for each decision: what was asked for, the answers and the result do not make it
// larger.
func TestARecordStaysSmall(t *testing.T) {
	t.Parallel()
	const answers = 20
	long := strings.Repeat("a long text ", 10_000)
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		n := newJob("u1")
		n.SessionID, n.CallbackTimeout, n.Input = "s1", time.Hour, job.MustJSON(long)
		j := must.Get(s.Start(ctx, n))(t)
		turn := take(t, s)
		for i := range answers {
			turn = askAndAnswer(t, s, turn.Job, fmt.Sprint("Which one, of all ", i, "? ", long), long)
		}
		if len(turn.Answers) != answers || turn.Answers[answers-1].Reply.Text != long {
			t.Errorf("the turn is told %d answers", len(turn.Answers))
		}
		result := job.MustJSON(map[string]string{"answer": long})
		must.Get(s.Accept(ctx, j.ID, lifecycle.Submission{Digest: "d", Result: result}))(t)

		size := 0
		for name, value := range rdb.HGetAll(ctx, "rb:{"+string(j.ID[4:6])+"}:job:"+string(j.ID)).Val() {
			size += len(name) + len(value)
		}
		if size == 0 || size > 4000 {
			t.Errorf("the record has %d bytes", size)
		}
		shown := must.Get(s.Get(ctx, j.ID))(t)
		must.Equal(t, string(n.Input), string(shown.Input), "the input shown")
		must.Equal(t, string(result), string(shown.Result), "the result shown")
		brief, _, err := s.Jobs.List(ctx, store.Query{UserID: "u1", Brief: true, Limit: 1})
		if err != nil || len(brief) != 1 || brief[0].Input != nil || brief[0].Result != nil {
			t.Errorf("a brief list shows %d jobs with input and result, %v", len(brief), err)
		}
	})
}
