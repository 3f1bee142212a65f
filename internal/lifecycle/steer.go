package lifecycle

import (
	"context"
	"strings"

	"ringback/internal/job"
	"ringback/internal/store"
)

// Steer asks for another round of a change. While a turn runs, the round is kept
// for its end. Where the change is under review, nothing is done but to say so:
// then steering is the answer to the review.
//
// Errors: Invalid for an empty prompt; Conflict where no round is to be had, and
// why.
func (s *Service) Steer(ctx context.Context, j job.Job, prompt string, by job.Actor) (underReview bool, err error) {
	change, err := s.Change(j)
	if err != nil {
		return false, err
	}
	if err := CheckPrompt(prompt); err != nil {
		return false, err
	}
	if !change.Review {
		return false, job.Errorf(job.Conflict, "This change needs no review").WithHint("It is published when Claude is done.")
	}
	if k, ok := s.kinds.Get(j.Kind); ok && !isCaptured(k, j.Options) && !j.State.Terminal() {
		return false, job.Errorf(job.Conflict, "This change is played by hand, so it has no rounds").
			WithHint("Write in its chat instead; whoever plays Claude reads it there.")
	}
	outcome, steers, err := s.store.EnqueueSteer(ctx, j, store.Steer{
		Reply: job.Reply{Decision: job.Steer, Text: prompt, Reason: prompt, Confidence: 1}, By: by,
		Message: job.Text(job.FromUser, SteerMessage(prompt)),
	}, change.MaxIterations)
	if err != nil || outcome == store.SteerQueued {
		return false, err
	}
	return outcome == store.SteerUnderReview, notSteered(j.ID, outcome, steers)
}

// SteerMessage is how a request for another round reads in the chat.
func SteerMessage(prompt string) string { return "steer: " + prompt }

// CheckPrompt refuses a request for another round that does not say what to do.
func CheckPrompt(prompt string) error {
	if strings.TrimSpace(prompt) != "" {
		return nil
	}
	e := job.Errorf(job.Invalid, "Invalid reply")
	e.Details = []job.Detail{{Path: "/prompt", Message: "is required but missing; expected what to do in the next round"}}
	return e
}

// SteeringLimit is the error for a change that was steered as often as it may be.
func SteeringLimit(steers int) *job.Error {
	return job.Errorf(job.Conflict, "The change was steered %d times, which is the limit", steers).
		WithHint("Approve or reject it as it is. The limit is max_steering_iterations.")
}

// notSteered says why no round is to be had; nil where the review is to be
// answered.
func notSteered(id job.ID, outcome store.SteerOutcome, steers int) error {
	switch outcome {
	case store.SteerQueued, store.SteerUnderReview:
		return nil
	case store.SteerOverLimit:
		return SteeringLimit(steers)
	case store.SteerApproved:
		return job.Errorf(job.Conflict, "The change was approved and is being published").
			WithHint("What was approved is what is published. A further change is a job of its own.")
	case store.SteerUnknown:
		return store.NotFound(id)
	}
	return job.Errorf(job.Conflict, "The job is %s", outcome).WithHint("Only a change that is under review, or being made, can be steered.")
}
