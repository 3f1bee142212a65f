package lifecycle

import (
	"context"
	"time"

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

// CheckOpenings checks a commit that creates several jobs, which no command does.
func (s *Service) CheckOpenings(ctx context.Context, now time.Time, first, second job.Job) error {
	st := &State{Now: now}
	for place, j := range map[**Job]job.Job{&st.Job: first, &st.Follower: second} {
		*place = &Job{Record: Record{ID: j.ID, Kind: j.Kind, UserID: j.UserID, State: job.Pending}}
	}
	release, _, err := s.checkOpenings(ctx, st)
	release()
	return err
}
