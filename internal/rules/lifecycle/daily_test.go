package lifecycle_test

import (
	"encoding/json"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/test/must"
)

// Each turn counts once, whatever its result: for its own cost, and for the time until Claude's
// first callback. Each decision counts for the time it took.
func TestDaysAreCounted(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{HumanTimeout: time.Hour})
	end := func(turn *lifecycle.Turn, costs float64) {
		t.Helper()
		e := lifecycle.TurnEnd{ID: turn.Job.ID, Turn: turn.Job.Turn, Node: "n", Begun: true, Code: job.CodeCrashed, Usage: job.Usage{CostUSD: costs}}
		for range 2 { // the second must not count
			must.Get(s.EndTurn(t.Context(), e))(t)
		}
	}
	s.create(request("plain"))
	turn := s.take()
	header, _, _, err := s.store.Calls.Header(t.Context(), turn.Job.ID)
	must.OK(t, err)
	for _, digest := range []string{"one", "two"} {
		must.Get(s.store.Calls.Progress(t.Context(), turn.Job.ID, header, json.RawMessage(`{"message":"x"}`), digest))(t)
	}
	end(turn, 0.25)
	s.retry(turn.Job.ID)
	turn = s.take() // does not call back
	end(turn, 0.30)
	s.retry(turn.Job.ID)
	turn = s.take()
	signed := lifecycle.WithSignature(t.Context(), turn.Signature)
	_, asked, _, err := s.Ask(signed, lifecycle.NewCheckpoint{
		RequestID: turn.Job.ID, UserID: "u1", SessionID: "s1", Type: job.Confirmation, Message: "May I?", Props: json.RawMessage(`{}`),
		Chat: job.Text(job.FromAssistant, "May I?"), Digest: "q",
	})
	must.OK(t, err)
	c := must.Get(s.store.Checkpoints.Get(t.Context(), asked))(t)
	must.Get(s.Answer(t.Context(), c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: job.Approve}}))(t)
	end(turn, 1.30)

	days := must.Get(s.store.Jobs.Daily(t.Context()))(t)
	cost, callbacks, approvals := 0.0, int64(0), int64(0)
	for _, day := range days[len(days)-2:] { // midnight may have passed
		cost += day.CostUSD["plain"]
		callbacks += count(day.FirstCallback)
		approvals += count(day.Approvals)
	}
	if len(days) != store.RetainedDays || cost < 1.2999 || cost > 1.3001 || callbacks != 2 || approvals != 1 {
		t.Errorf("of %d days the last two have cost $%f, with %d first callbacks and %d approvals: %+v", len(days), cost, callbacks, approvals, days[len(days)-1])
	}
}

func count(classes []job.Class) int64 {
	var n int64
	for _, class := range classes {
		n += class.Count
	}
	return n
}
