package human

import (
	"context"

	"ringback/internal/job"
	"ringback/internal/store"
)

// startFollower starts a job in the conversation of one that has ended, because its
// user has written since. Done again, it changes nothing.
func (s *Service) startFollower(ctx context.Context, id job.ID) error {
	before, err := s.store.Get(ctx, id)
	if err != nil {
		return notThere(err)
	}
	k, ok := s.kinds.Get(before.Kind)
	if !ok {
		s.log.Warn("a message came for a kind that was removed", "requestId", id, "kind", before.Kind)
		return nil
	}
	timeout := k.Policy.Timeout
	if timeout == 0 {
		timeout = s.opts.CallbackTimeout
	}
	_, err = s.store.Create(ctx, store.NewJob{
		Kind: before.Kind, UserID: before.UserID, SessionID: before.SessionID, Input: before.Input, Options: before.Options,
		IdempotencyKey: "follows:" + string(id), EventPrefix: k.Policy.Events, Priority: k.Policy.Priority,
		CallbackTimeout: timeout, Attempts: k.Policy.MaxAttempts, Follows: id, Change: k.Policy.Workspace != nil,
	})
	return err
}
