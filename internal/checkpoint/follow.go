package checkpoint

import (
	"context"

	"ringback/internal/job"
)

// continueConversation lets a job go on with the conversation of one that has
// ended, because its user has written since. Done again, it changes nothing.
func (s *Service) continueConversation(ctx context.Context, id job.ID) error {
	err := s.jobs.Follow(ctx, id)
	if err == nil {
		return nil
	}
	if notThere(err) == nil { // it will not be there when this is repeated either
		s.log.Warn("a message came for a kind that was removed", "requestId", id, "error", err)
		return nil
	}
	return err
}
