package lifecycle

import (
	"context"
	"slices"
	"strings"

	"ringback/internal/job"
)

// Steer requests another round of a change. While a turn runs, the request is queued until the turn
// ends. If the change is under review, Steer only reports that: steering is then an answer to the
// review.
//
// Errors: Invalid for an empty prompt; Conflict, with the reason, if another round is not possible.
func (s *Service) Steer(ctx context.Context, j job.Job, prompt string, by job.Actor) (underReview bool, err error) {
	change, err := s.Change(ctx, j)
	if err != nil {
		return false, err
	}
	if err := CheckPrompt(prompt); err != nil {
		return false, err
	}
	if !change.Review {
		return false, job.Errorf(job.Conflict, "This change needs no review").WithHint("It is published when Claude is done.")
	}
	return s.EnqueueSteer(
		ctx, j.ID, QueuedSteer{job.Reply{Decision: job.Steer, Text: prompt, Reason: prompt, Confidence: 1}, by},
		change.MaxIterations,
	)
}

// EnqueueSteer queues a steer until the running turn has ended. It then answers the review. most is
// the maximum number of times that the change may be steered. Errors: those of Steer.
func (s *Service) EnqueueSteer(ctx context.Context, id job.ID, steer QueuedSteer, most int) (underReview bool, err error) {
	return resultOf(
		ctx, s.runDurably, Query{Job: id},
		func(st *State) (bool, error) { return st.enqueueSteer(id, steer, most) },
	)
}

// enqueueSteer queues a steer until the running turn has ended. It then answers the review, see
// ask. most is the maximum number of times that the change may be steered.
func (st *State) enqueueSteer(id job.ID, steer QueuedSteer, most int) (underReview bool, err error) {
	j := st.Job
	if j == nil {
		return false, job.NoJob(id)
	}
	switch c := st.waitsAt(j); {
	case j.State.Terminal():
		return false, job.Errorf(job.Conflict, "The job is %s", j.State).
			WithHint("Only a change that is under review, or being made, can be steered.")
	case !j.HasWorkspace:
		return false, job.Errorf(job.Conflict, "The job was made before its kind worked on repositories, so it has no rounds").
			WithHint("Write in its chat instead, or ask for a new job.")
	case c != nil && c.Type == job.Review:
		return true, nil
	case j.Approved():
		return false, job.Errorf(job.Conflict, "The change was approved and is being published").
			WithHint("Exactly what was approved is published. Request a further change as a new job.")
	}
	if n := j.Steers + len(j.QueuedSteers); n >= most {
		return false, SteeringLimit(n)
	}
	body := job.Text(job.FromUser, SteerMessage(steer.Reply.Reason))
	steer.Reply.By = steer.By.SpeaksFor(j.UserID)
	body.By = steer.Reply.By
	steer.Reply.MessageID = st.addWord(j, j.chat().about(body), true)
	j.QueuedSteers = append(slices.Clone(j.QueuedSteers), steer)
	return false, nil
}

// SteerMessage returns the chat message of a request for another round.
func SteerMessage(prompt string) string { return "steer: " + prompt }

// CheckPrompt rejects a request for another round without a prompt.
func CheckPrompt(prompt string) error {
	if strings.TrimSpace(prompt) != "" {
		return nil
	}
	return job.InvalidField("/prompt", "is required but missing; expected what to do in the next round")
}

// SteeringLimit returns the error for a change that cannot be steered again.
func SteeringLimit(steers int) *job.Error {
	return job.Errorf(job.Conflict, "The change was steered %d times, which is the limit", steers).
		WithHint("Approve or reject it as it is. The limit is max_steering_iterations.")
}
