package lifecycle_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// reviewOf returns the review of a change that may be steered twice.
func reviewOf(j job.Job, round int) lifecycle.NewCheckpoint {
	return lifecycle.NewCheckpoint{
		RequestID: j.ID, UserID: j.UserID, SessionID: j.SessionID, Type: job.Review, Message: "Look at it.",
		Chat: job.Text(job.FromAssistant, "Look at it."), Digest: strconv.Itoa(round), MaxIterations: 2,
	}
}

// steer requests another round. It returns "queued", "review" if the change waits for a decision,
// or the reason for a refusal.
func steer(t *testing.T, s *storetest.Service, j job.Job, prompt string) string {
	t.Helper()
	underReview, err := s.EnqueueSteer(t.Context(), j.ID, lifecycle.QueuedSteer{
		Reply: job.Reply{Decision: job.Steer, Reason: prompt, Confidence: 1}, By: job.Actor{UserID: "u1", Via: "api"},
	}, 2)
	var refused *job.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == job.Conflict:
		return refused.Message
	case err != nil:
		t.Fatal(err)
	case underReview:
		return "review"
	}
	return "queued"
}

// A queued steer answers the review in the commit that opens it.
func TestQueuedSteerAnswersTheReview(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		j := must.Get(s.Start(t.Context(), newChange("u1")))(t)
		prompts := []string{`the "first"`, "the\nsecond / }"}
		for _, prompt := range prompts {
			must.Equal(t, "queued", steer(t, s, j, prompt), "a steer before the turn is")
		}
		must.Equal(t, "The change was steered 2 times, which is the limit", steer(t, s, j, "third"), "a steer over the limit is")
		m := &model{id: j.ID, user: "u1", state: job.Pending, seen: map[string]bool{}}
		for round := range 2 {
			claim(t, s, m, nil)
			for again := range 2 { // asked again, because the response was lost
				outcome, _, _, err := s.Ask(t.Context(), reviewOf(j, round))
				if want := []lifecycle.OutcomeKind{lifecycle.Accepted, lifecycle.Repeated}[again]; err != nil || outcome.Kind != want {
					t.Errorf("asking for review in round %d: %s %v, want %s", round, outcome, err, want)
				}
			}
			if state, err := s.EndTurn(t.Context(), lifecycle.TurnEnd{ID: j.ID, Turn: m.turn, Node: "n", Begun: true}); err != nil || state != job.Pending {
				t.Errorf("after round %d the job is %s %v", round, state, err)
			}
			m.state = job.Pending
		}
		claim(t, s, m, nil)
		if outcome, _, _, err := s.Ask(t.Context(), reviewOf(j, 2)); err != nil || outcome.Kind != lifecycle.Accepted {
			t.Errorf("with no steer left, asking is %s %v", outcome, err)
		}
		must.Equal(t, "review", steer(t, s, j, "now"), "a steer during the review is")
		state := must.Get(s.Changes.Steering(t.Context(), j.ID, 2))(t)
		var got []string
		for _, round := range state.History {
			got = append(got, round.Prompt)
		}
		if diff := cmp.Diff(prompts, got); diff != "" || state.Queued != nil {
			t.Errorf("the rounds (-want +got):\n%s; queued %v", diff, state.Queued)
		}
	})
}

// An approved change is published as it is: a steer comes too late.
func TestNoSteerAfterTheApproval(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		j := must.Get(s.Start(t.Context(), newChange("u1")))(t)
		claim(t, s, &model{id: j.ID, user: "u1", state: job.Pending}, nil)
		_, id, _, err := s.Ask(t.Context(), reviewOf(j, 0))
		must.OK(t, err)
		c := must.Get(s.Checkpoints.Get(t.Context(), id))(t)
		if _, err := s.Answer(t.Context(), c, lifecycle.Resolution{
			To: job.Answered, Reply: job.Reply{Decision: job.Approve},
		}); err != nil {
			t.Fatal(err)
		}
		must.Equal(t, "The change was approved and is being published", steer(t, s, j, "more"), "a steer after the approval is")
	})
}
