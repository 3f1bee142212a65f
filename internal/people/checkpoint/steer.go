package checkpoint

import (
	"context"

	"ringback/internal/job"
)

// Steer asks for another round of a change: at once if the change is under review, otherwise after
// the running turn. Errors: those of lifecycle.Service.Steer.
func (s *Service) Steer(ctx context.Context, j job.Job, prompt string, by job.Actor) error {
	for {
		underReview, err := s.jobs.Steer(ctx, j, prompt, by)
		if err != nil || !underReview {
			return err
		}
		if again, err := s.steerReview(ctx, j.ID, Reply{Decision: job.Steer, Text: prompt, By: by}); !again {
			return err
		}
	}
}

// steerReview answers the review that a job waits for. again is true if someone else answered it at
// the same time.
func (s *Service) steerReview(ctx context.Context, id job.ID, given Reply) (again bool, err error) {
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

// overLimit reports whether the change under review has been steered as often as allowed. A review of a
// system outside Ringback has a limit only if its question names one.
func (f form) overLimit() bool {
	limited := f.checkpoint.RequestID != "" || f.props.MaxIterations > 0
	return f.checkpoint.Type == job.Review && limited && f.props.Iteration >= f.props.MaxIterations
}
