package runner

import "context"

// place is the worker of a turn, if it has one.
type place struct {
	r    *Runner
	held bool
}

// release gives the worker back if the turn has one.
func (p *place) release() {
	if p.held {
		p.held = false
		p.r.free <- struct{}{}
	}
}

// lend releases the worker during slow work of the server that runs no Claude, such as cloning,
// verifying or publishing. The turn keeps its worker if enough others have lent theirs.
func (p *place) lend(do func() error) error {
	select {
	case p.r.lent <- struct{}{}:
		defer func() { <-p.r.lent }()
		p.release()
	default:
	}
	return do()
}

// without lends the worker and waits for one afterwards.
func (p *place) without(ctx context.Context, do func() error) error {
	if err := p.lend(do); err != nil {
		return err
	}
	return p.take(ctx)
}

// take waits for a worker if the turn has none.
func (p *place) take(ctx context.Context) error {
	if p.held {
		return nil
	}
	select {
	case <-p.r.free:
		p.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
