package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringback/internal/job"
)

// Follow starts a job that continues the conversation of one that has ended, with the messages that
// its user has written since. Kind, input and options are the same, and so is the version of the
// kind, because its prompt began the conversation and its schema accepted the input. Follow does
// nothing if no unread message is left: the job is gone or was retried, or another follows it
// already. So it is safe to repeat. If no job may be opened now, or the kind is gone, the chat says
// so.
//
// The input is not validated again: it was accepted once, and the author of the message has already
// received a response.
//
// Error: Unavailable while the store is unavailable.
func (s *Service) Follow(ctx context.Context, id job.ID) error {
	before, err := s.store.Get(ctx, id)
	if err != nil {
		return ignore(err, job.NotFound)
	}
	k, err := s.KindOf(ctx, before)
	if err == nil {
		n := s.newJobOf(k, before.UserID, before.Input, before.Options)
		n.APIKey, n.SessionID, n.Tags, n.Follows = before.APIKey, before.SessionID, before.Tags, id
		_, err = s.Start(ctx, n)
	}
	if why, ok := errors.AsType[*job.Error](err); ok && (why.Kind == job.TooMany || why.Kind == job.NotFound) {
		return s.leaveUnread(ctx, id, why)
	}
	return ignore(err, job.Conflict)
}

// leaveUnread tells a user why no job continues the conversation. The job that follows their next
// message gets the earlier ones, too.
func (s *Service) leaveUnread(ctx context.Context, id job.ID, why *job.Error) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error {
		if j := st.Job; j != nil && j.State.Terminal() && j.unread() > 0 {
			st.addNotice(
				j.chat(),
				fmt.Sprintf("Claude has not read your last message: %s. Write again later: Claude then reads both.", why.Message),
			)
		}
		return nil
	})
}

// CanInterpret reports whether there is a kind for jobs that interpret replies.
func (s *Service) CanInterpret() bool {
	_, ok := s.current(InterpretingKind)
	return ok
}

// Interpret starts a job that interprets a person's reply to a question of another job, if one asked it.
// input is the input of that kind. It does nothing if the person has replied again, or if another call has
// started the job. So it is safe to repeat.
//
// Errors: NotFound if CanInterpret is false; Unavailable while the store is unavailable.
func (s *Service) Interpret(ctx context.Context, reply Round, asked job.ID, userID string, input json.RawMessage) error {
	k, ok := s.current(InterpretingKind)
	if !ok {
		return job.Errorf(job.NotFound, "The kind %q was removed", InterpretingKind)
	}
	by, err := s.store.Get(ctx, asked)
	if ignore(err, job.NotFound) != nil {
		return err
	}
	n := s.newJobOf(k, job.ReaderPrefix+userID, input, job.Options{})
	n.APIKey, n.IdempotencyKey, n.Interprets = by.APIKey, fmt.Sprintf("%s %d", reply.Checkpoint, reply.Number), reply
	_, err = s.Start(ctx, n)
	return ignore(err, job.Conflict)
}

// ignore returns nil for an error that means that there is nothing to do.
func ignore(err error, harmless job.ErrorKind) error {
	if job.HasKind(err, harmless) {
		return nil
	}
	return err
}
