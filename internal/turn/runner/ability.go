package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"ringback/internal/job"
	"ringback/internal/turn/review"
)

// ability tracks whether this node can run turns: by a check, for example of its disk and its CLI, and by
// trial starts once a turn did not start.
type ability struct {
	checkFunc func() error
	// trialFunc makes a trial start of the CLI, or of the simulated Claude. trials makes one at a time.
	trialFunc func(ctx context.Context, simulated bool) error
	trialTime time.Duration
	trials    singleflight.Group
	simulates bool
	log       *slog.Logger

	mu      sync.Mutex
	problem error // of the latest check
	checked time.Time
	// failed is the error of the latest trial start of what the node's jobs start: the CLI, or the simulated
	// Claude if simulates is set.
	failed error
	// said is the problem that the log has.
	said error
}

const (
	// recheckInterval is the validity of a check's result.
	recheckInterval = time.Second
	// longestTrialPause limits the time between two trial starts, which doubles with each failed one.
	longestTrialPause = time.Minute
	// killTime is the time in which the system ends a killed process.
	killTime = 10 * time.Second
)

// check returns the reason why the node cannot run turns, or nil if it can, from a check that is not older than
// valid. It logs when a problem begins and ends.
func (a *ability) check(valid time.Duration) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.checked) >= valid {
		a.problem, a.checked = a.checkFunc(), time.Now()
	}
	problem := cmp.Or(a.problem, a.failed)
	switch {
	case problem != nil && a.said == nil:
		a.log.Error("this node takes no jobs until it can run them", "error", problem)
	case problem == nil && a.said != nil:
		a.log.Info("this node can run jobs again")
	}
	a.said = problem
	return problem
}

// try makes a trial start, or awaits the one that runs. It returns why it failed.
func (a *ability) try(ctx context.Context, simulated bool) error {
	select {
	case done := <-a.trials.DoChan(strconv.FormatBool(simulated), func() (any, error) {
		return nil, a.settle(ctx, simulated, a.trialFunc(ctx, simulated))
	}):
		return done.Err
	case <-time.After(a.trialTime + killTime): // the disk may hang
		return a.settle(ctx, simulated, errors.New("it hangs and cannot be ended"))
	}
}

// settle records the outcome of a trial start and returns it. After a failed one, others follow until one
// succeeds. Simulated jobs among others do not block the node: each waits, and tries again.
func (a *ability) settle(ctx context.Context, simulated bool, err error) error {
	if ctx.Err() != nil { // the server stops, so it ended the trial
		return ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("a trial start of the CLI failed: %w", err)
	}
	if simulated != a.simulates {
		return err
	}
	a.mu.Lock()
	isNew := err != nil && a.failed == nil
	a.failed = err
	a.mu.Unlock()
	if _ = a.check(recheckInterval); isNew {
		go a.repeat(ctx)
	}
	return err
}

// repeat makes trial starts until one succeeds.
func (a *ability) repeat(ctx context.Context) {
	for wait := recheckInterval; ; wait = min(2*wait, longestTrialPause) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if a.try(ctx, a.simulates) == nil {
			return
		}
	}
}

// couldNotStart records that a job's turn did not start for a reason, and finds out whether it is the node's: if
// not, it is the job's own. The next attempt is left to another node, if there is one.
func (r *Runner) couldNotStart(serving context.Context, j job.Job, worker *slot, why error) (isNodes bool) {
	r.notStarted.Add(1)
	r.left.Add(j.ID, true)
	return r.isAtFault(serving, j, worker, why)
}

// isAtFault reports whether this node is the reason why a part of a turn has failed. It tries what was to run: git
// if the job's change was to be continued, else the CLI. Another turn may use the worker while it does.
func (r *Runner) isAtFault(serving context.Context, j job.Job, worker *slot, why error) bool {
	return worker.lend(func() error {
		if err := r.ability.check(0); err != nil {
			return err
		}
		if _, ofChange := errors.AsType[*review.Error](why); ofChange {
			ctx, cancel := context.WithTimeout(serving, r.ability.trialTime)
			defer cancel()
			return r.workspaces().Try(ctx)
		}
		return r.ability.try(serving, j.Simulated)
	}) != nil
}

// Problem returns the reason why this node cannot run turns, or nil if it can.
func (r *Runner) Problem() error { return r.ability.check(recheckInterval) }

// awaitAbility waits, as pause does, until this node can run turns. It returns false if ctx
// ends. Until then, other nodes take the jobs.
func (r *Runner) awaitAbility(ctx context.Context) bool {
	for r.Problem() != nil {
		if !pause(ctx, r, time.After(recheckInterval)) {
			return false
		}
	}
	return true
}
