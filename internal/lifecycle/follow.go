package lifecycle

import (
	"context"
	"encoding/json"

	"ringback/internal/job"
)

// Follow starts a job in the conversation of one that has ended, with what its
// user has written since: of the same kind, for the same input, with the same
// options, and under the same version of the kind, whose prompt began the conversation and
// whose schema has taken the input. It does nothing where there is nothing that nobody has heard: the job
// is gone or was retried, or another follows it already. So it may be repeated.
//
// What was asked for is not checked again: it was accepted once, and whoever
// wrote the message has had its answer.
//
// Errors: those of KindOf.
func (s *Service) Follow(ctx context.Context, id job.ID) error {
	before, err := s.store.Get(ctx, id)
	if err != nil {
		return ignore(err, job.NotFound)
	}
	k, err := s.KindOf(ctx, before)
	if err != nil {
		return err
	}
	n := s.newJobOf(k, before.UserID, before.Input, before.Options)
	n.SessionID, n.Tags, n.Follows = before.SessionID, before.Tags, id
	_, err = s.Start(ctx, n)
	return ignore(err, job.Conflict)
}

// CanInterpret reports whether there is a kind whose jobs say what a reply means.
func (s *Service) CanInterpret() bool {
	_, ok := s.current(InterpretingKind)
	return ok
}

// Interpret starts a job that says what a person's reply means. input is that
// kind's. It does nothing where the person has replied again meanwhile, or another
// call has started the job; so it may be repeated.
//
// Errors: NotFound where CanInterpret is false.
func (s *Service) Interpret(ctx context.Context, reply Round, userID string, input json.RawMessage) error {
	k, ok := s.current(InterpretingKind)
	if !ok {
		return job.Errorf(job.NotFound, "The kind %q was removed", InterpretingKind)
	}
	n := s.newJobOf(k, job.ReaderPrefix+userID, input, job.Options{})
	n.IdempotencyKey, n.Interprets = interpreterKey(reply), reply
	_, err := s.Start(ctx, n)
	return ignore(err, job.Conflict)
}

// ignore makes an error that only says that there is nothing to do none.
func ignore(err error, harmless job.ErrorKind) error {
	if job.HasKind(err, harmless) {
		return nil
	}
	return err
}
