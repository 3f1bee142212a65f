package runner

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"time"
)

// ability knows whether this node can run turns: whether its disk has room, say, and its CLI is
// there.
type ability struct {
	checkFunc func() error
	log       *slog.Logger

	mu      sync.Mutex
	problem error
	checked time.Time
}

// recheckInterval is how long the result of a check holds.
const recheckInterval = time.Second

// check returns why the node cannot run turns; nil while it can.
func (a *ability) check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.checked) >= recheckInterval {
		a.note(a.checkFunc())
	}
	return a.problem
}

// explains reports whether a turn could not start because of the node, not because of its job: the
// node cannot run turns, or the system was out of something just then.
func (a *ability) explains(err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !exhausted(err) {
		err = a.checkFunc()
	}
	a.note(err)
	return err != nil
}

func (a *ability) note(problem error) {
	switch {
	case problem != nil && a.problem == nil:
		a.log.Error("this node takes no jobs until it can run them", "error", problem)
	case problem == nil && a.problem != nil:
		a.log.Info("this node can run jobs again")
	}
	a.problem, a.checked = problem, time.Now()
}

// exhausted reports whether the system had no descriptors, memory or processes left.
func exhausted(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// Problem says why this node cannot run turns; nil while it can.
func (r *Runner) Problem() error { return r.ability.check() }

// awaitAbility waits, as pause does, until this node can run turns; false when ctx has ended.
// Meanwhile other nodes take the jobs.
func (r *Runner) awaitAbility(ctx context.Context) bool {
	for r.ability.check() != nil {
		if !pause(ctx, r, time.After(recheckInterval)) {
			return false
		}
	}
	return true
}
