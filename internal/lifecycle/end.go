package lifecycle

import (
	"context"

	"ringback/internal/job"
)

// Cancel ends a job and all that runs for it. A Conflict error says in which state
// it has ended already.
func (s *Service) Cancel(ctx context.Context, id job.ID, by job.Actor) error {
	why := "Cancelled on request"
	if by.Via == job.ViaSlack {
		why = "Cancelled in Slack."
	}
	return s.store.End(ctx, id, job.Cancelled, job.CodeCancelled, why, 0)
}

// Retry starts an expired, failed or cancelled job again, in the same
// conversation. A Conflict error says why it cannot: the state that it is in, or
// that another job goes on with its conversation at this moment.
func (s *Service) Retry(ctx context.Context, id job.ID) error { return s.store.Retry(ctx, id) }
