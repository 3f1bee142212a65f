package runner

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"time"
)

// ability tracks whether this node can run turns: for example, whether its disk has space and
// its CLI exists.
type ability struct {
	checkFunc func() error
	log       *slog.Logger

	mu      sync.Mutex
	problem error
	checked time.Time
}

// recheckInterval is the validity of a check's result.
const recheckInterval = time.Second

// check returns the reason why the node cannot run turns, or nil if it can.
func (a *ability) check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.checked) >= recheckInterval {
		a.note(a.checkFunc())
	}
	return a.problem
}

// explains reports whether a turn failed to start because of the node, not because of its job: the
// node cannot run turns, or the system had run out of a resource.
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

// Problem returns the reason why this node cannot run turns, or nil if it can.
func (r *Runner) Problem() error { return r.ability.check() }

// awaitAbility waits, as pause does, until this node can run turns. It returns false if ctx
// ends. Until then, other nodes take the jobs.
func (r *Runner) awaitAbility(ctx context.Context) bool {
	for r.ability.check() != nil {
		if !pause(ctx, r, time.After(recheckInterval)) {
			return false
		}
	}
	return true
}
