package lifecycle

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"time"

	"ringback/internal/job"
)

// maxCommits is the maximum number of attempts of a command if something else is committed in
// between. Of any number of conflicting commands, one succeeds each time.
const maxCommits = 40

// run loads what a command needs, decides and commits. If anything that was loaded has changed
// before the commit, it starts again. A command that changes nothing commits nothing. An error of
// decide is returned, and nothing is changed.
//
// Errors: those of decide; Unavailable if the store is unavailable, or if conflicts persist.
func (s *Service) run(ctx context.Context, q Query, decide func(*State) error) error {
	return s.commit(ctx, q, false, decide)
}

// runDurably is run for a command with a durable response: a result that was accepted, a reply, an
// approval that was used. What its decision is based on, and what it wrote, survives the loss of a
// store server, as far as commits wait for its replicas. This includes data that was written
// earlier. Errors: those of run, and Unavailable if the data was written, but too few replicas have
// confirmed it.
func (s *Service) runDurably(ctx context.Context, q Query, decide func(*State) error) error {
	return s.commit(ctx, q, true, decide)
}

// resultOf returns the result of a command. run is Service.run or Service.runDurably.
func resultOf[T any](
	ctx context.Context, run func(context.Context, Query, func(*State) error) error, q Query,
	decide func(*State) (T, error),
) (result T, err error) {
	err = run(ctx, q, func(st *State) (err error) {
		result, err = decide(st)
		return err
	})
	return result, err
}

func (s *Service) commit(ctx context.Context, q Query, durable bool, decide func(*State) error) error {
	name := rand.Text() // of all attempts: the command is done once at most
	var refused error
	for attempt := range maxCommits {
		st, err := s.store.Load(ctx, q)
		if err != nil {
			return err
		}
		if refused != nil && st.Known.Get().ID == "" {
			return refused
		}
		st.Durable, st.CommitID = durable, name
		err = s.decideOn(ctx, st, decide)
		if errors.Is(err, errLine) {
			q.Waiting = true
			continue
		}
		if err != nil {
			return err
		}
		release, repeated, err := s.checkOpenings(ctx, st)
		if err != nil {
			if q.IdempotencyKey == "" {
				return err
			}
			// The slot may be in use by the job of the same request.
			if refused = err; repeated {
				refused = nil
			}
			if err := pause(ctx, attempt); err != nil {
				return err
			}
			continue
		}
		committed, err := s.store.Commit(ctx, st)
		if err == nil {
			release()
		}
		if committed {
			s.stateChanged(st)
			s.concluded(st)
		}
		if err != nil || committed {
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
	return job.Contended()
}

// decideOn decides a command on what was loaded. Errors: those of decide; Internal if its rules need a
// part that the query does not ask for.
func (s *Service) decideOn(ctx context.Context, st *State, decide func(*State) error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case notLoaded:
			err = job.Errorf(job.Internal, "A rule needs data that was not loaded: %s", string(r))
		default:
			panic(r)
		}
	}()
	if err := st.checkSignature(ctx); err != nil {
		return err
	}
	st.noteCallback(ctx)
	if err := decide(st); err != nil {
		return err
	}
	if err := st.handOn(); err != nil {
		return err
	}
	return s.compose(ctx, st)
}

// pause waits for a random time, so that conflicting commits do not collide again.
func pause(ctx context.Context, attempt int) error {
	return Wait(ctx, mathrand.N(time.Millisecond<<min(attempt, 5))) //nolint:gosec // it only spreads them
}

// Wait waits for some time. It returns an error if the context ends before.
func Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
