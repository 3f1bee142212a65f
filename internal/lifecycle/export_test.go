package lifecycle

import (
	"context"

	"ringback/internal/job"
)

// Move moves a job with no side effects, through the function that every rule uses.
func (s *Service) Move(ctx context.Context, id job.ID, to job.State, phase job.Phase) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error {
		if st.Job.State == to {
			return st.movePhase(st.Job, phase)
		}
		return st.move(st.Job, to, phase, nil)
	})
}
