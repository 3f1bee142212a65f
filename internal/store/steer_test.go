package store_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/store"
)

// reviewOf is the review of a change that may be steered twice.
func reviewOf(j job.Job, round int) store.Question {
	return store.Question{
		RequestID: j.ID, UserID: j.UserID, SessionID: j.SessionID, Type: job.Review, Message: "Look at it.",
		Chat: job.Text(job.FromAssistant, "Look at it."), Digest: strconv.Itoa(round), MaxIterations: 2,
	}
}

func steer(t *testing.T, s *store.Store, j job.Job, prompt string) (store.SteerOutcome, int) {
	t.Helper()
	outcome, steers, err := s.EnqueueSteer(t.Context(), j, store.Steer{
		Reply: job.Reply{Decision: job.Steer, Reason: prompt, Confidence: 1}, By: job.Actor{UserID: "u1", Via: "api"},
		Message: job.Text(job.FromUser, "steer: "+prompt),
	}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return outcome, steers
}

// A steer that waits answers the review in the step that opens it.
func TestQueuedSteerAnswersTheReview(t *testing.T) {
	t.Parallel()
	onBoth(t, store.Options{}, func(t *testing.T, s *store.Store, _ redis.UniversalClient) {
		j, err := s.Create(t.Context(), newJob("u1"))
		if err != nil {
			t.Fatal(err)
		}
		prompts := []string{`the "first"`, "the\nsecond / }"}
		for _, prompt := range prompts {
			if outcome, _ := steer(t, s, j, prompt); outcome != store.SteerQueued {
				t.Errorf("a steer before the turn is %s", outcome)
			}
		}
		if outcome, n := steer(t, s, j, "third"); outcome != store.SteerOverLimit || n != 2 {
			t.Errorf("a steer over the limit is %s %d", outcome, n)
		}
		m := &model{id: j.ID, user: "u1", state: job.Pending, seen: map[string]bool{}}
		for round := range 2 {
			claim(t, s, m, nil)
			for again := range 2 { // asked again, because the answer was lost
				outcome, _, _, err := s.Ask(t.Context(), reviewOf(j, round))
				if want := []store.Outcome{store.Asked, store.Repeated}[again]; err != nil || outcome != want {
					t.Errorf("asking for review in round %d: %s %v, want %s", round, outcome, err, want)
				}
			}
			if state, err := s.EndTurn(t.Context(), store.TurnEnd{ID: j.ID, Turn: m.turn, Node: "n", Begun: true}); err != nil || state != job.Pending {
				t.Errorf("after round %d the job is %s %v", round, state, err)
			}
			m.state = job.Pending
		}
		claim(t, s, m, nil)
		if outcome, _, _, err := s.Ask(t.Context(), reviewOf(j, 2)); err != nil || outcome != store.Asked {
			t.Errorf("with no steer left, asking is %s %v", outcome, err)
		}
		if outcome, _ := steer(t, s, j, "now"); outcome != store.SteerUnderReview {
			t.Errorf("a steer during the review is %s", outcome)
		}
		state, err := s.Steering(t.Context(), j.ID, 2)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, round := range state.History {
			got = append(got, round.Prompt)
		}
		if diff := cmp.Diff(prompts, got); diff != "" || state.Queued != nil {
			t.Errorf("the rounds (-want +got):\n%s; queued %v", diff, state.Queued)
		}
	})
}

// What was approved is published as it is: a steer comes too late.
func TestNoSteerAfterTheApproval(t *testing.T) {
	t.Parallel()
	onBoth(t, store.Options{}, func(t *testing.T, s *store.Store, _ redis.UniversalClient) {
		j, err := s.Create(t.Context(), newJob("u1"))
		if err != nil {
			t.Fatal(err)
		}
		claim(t, s, &model{id: j.ID, user: "u1", state: job.Pending}, nil)
		_, id, _, err := s.Ask(t.Context(), reviewOf(j, 0))
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Checkpoint(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reply(t.Context(), c, store.Answer{
			To: job.Answered, Reply: job.Reply{Decision: job.Approve},
		}); err != nil {
			t.Fatal(err)
		}
		if outcome, _ := steer(t, s, j, "more"); outcome != store.SteerApproved {
			t.Errorf("a steer after the approval is %s", outcome)
		}
	})
}
