package runner

import "context"

// slot is the worker of a turn, if it has one.
type slot struct {
	r    *Runner
	held bool
}

// release gives the worker back if the turn has one.
func (s *slot) release() {
	if s.held {
		s.held = false
		s.r.free <- struct{}{}
	}
}

// lend releases the worker during slow work of the server that runs no Claude, such as cloning,
// verifying or publishing. The turn keeps its worker if enough others have lent theirs.
func (s *slot) lend(do func() error) error {
	select {
	case s.r.lent <- struct{}{}:
		defer func() { <-s.r.lent }()
		s.release()
	default:
	}
	return do()
}

// acquire waits for a worker if the turn has none.
func (s *slot) acquire(ctx context.Context) error {
	if s.held {
		return nil
	}
	select {
	case <-s.r.free:
		s.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
