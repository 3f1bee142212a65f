package human

import (
	"context"
	"fmt"
	"strings"

	"ringback/internal/job"
	"ringback/internal/store"
)

// Steer asks for another round of a change: at once where it is under review,
// after the turn where one runs. Errors: Invalid for an empty prompt, Conflict
// where no round is to be had, and why.
func (s *Service) Steer(ctx context.Context, j job.Job, change job.Change, prompt string, by job.Actor) error {
	if strings.TrimSpace(prompt) == "" {
		return noPrompt()
	}
	if !change.Review {
		return job.Errorf(job.Conflict, "This change needs no review").WithHint("It is published when Claude is done.")
	}
	given := Given{Decision: job.Steer, Text: prompt, By: by}
	for {
		outcome, steers, err := s.store.EnqueueSteer(ctx, j, store.Steer{
			Reply: job.Reply{Decision: job.Steer, Text: prompt, Reason: prompt, Confidence: 1}, By: by,
			Message: job.Text(job.FromUser, question{}.inWords(given)),
		}, change.MaxIterations)
		switch {
		case err != nil || outcome == store.SteerQueued:
			return err
		case outcome == store.SteerUnderReview:
			if again, err := s.steerReview(ctx, j.ID, given); !again {
				return err
			}
		default:
			return notSteered(j.ID, outcome, steers)
		}
	}
}

// steerReview answers the review that a job waits at. again says that it was
// answered by somebody else at this very moment.
func (s *Service) steerReview(ctx context.Context, id job.ID, given Given) (again bool, err error) {
	j, err := s.store.Get(ctx, id)
	if err != nil {
		return false, err
	}
	if j.Checkpoint == nil || j.Checkpoint.Type != job.Review || j.Checkpoint.Status != job.Open {
		return true, nil
	}
	_, err = s.Reply(ctx, *j.Checkpoint, given)
	if err == nil {
		return false, nil
	}
	now, readErr := s.store.Checkpoint(ctx, j.Checkpoint.ID)
	return readErr == nil && now.Status != job.Open, err
}

func notSteered(id job.ID, outcome store.SteerOutcome, steers int) error {
	switch outcome {
	case store.SteerOverLimit:
		return overLimit(steers)
	case store.SteerApproved:
		return job.Errorf(job.Conflict, "The change was approved and is being published").
			WithHint("What was approved is what is published. A further change is a job of its own.")
	case store.SteerUnknown:
		return store.NotFound(id)
	case store.SteerQueued, store.SteerUnderReview:
	}
	return job.Errorf(job.Conflict, "The job is %s", outcome).WithHint("Only a change that is under review, or being made, can be steered.")
}

func noPrompt() error {
	return refuse("/prompt", "is required but missing; expected what to do in the next round")
}

// overLimit reports whether the change under review was steered as often as it
// may be.
func (q question) overLimit() bool {
	return q.checkpoint.Type == job.Review && q.props.Iteration >= q.props.MaxIterations
}

// overLimit is the error for it.
func overLimit(steers int) error {
	return job.Errorf(job.Conflict, "%s", steeredOften(steers)).WithHint(whatElse)
}

// whatElse is what can be done with a change that was steered often enough.
const whatElse = "Approve or reject it as it is. The limit is max_steering_iterations."

func steeredOften(times int) string {
	return fmt.Sprintf("The change was steered %d times, which is the limit", times)
}
