package runner

import "context"

// place is a worker of this node that a turn takes up.
type place struct {
	r    *Runner
	held bool
}

// release gives the worker back, where the turn has it.
func (p *place) release() {
	if p.held {
		p.held = false
		p.r.free <- struct{}{}
	}
}

// without does something of the server's own that may take long and needs no worker, such as
// cloning from a host that says nothing: meanwhile other turns run. It keeps the worker where as many
// turns as may do so already.
func (p *place) without(ctx context.Context, do func() error) error {
	select {
	case p.r.lent <- struct{}{}:
		defer func() { <-p.r.lent }()
		p.release()
	default:
	}
	if err := do(); err != nil {
		return err
	}
	return p.take(ctx)
}

// take waits for a worker, where the turn has none.
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
