package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/claude"
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
		a.log.Error("node unfit: not taking jobs", "error", problem)
	case problem == nil && a.said != nil:
		a.log.Info("node fit again: taking jobs")
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

// A trial start shows whether this node can start turns: it starts the CLI like a turn, but with nothing of
// any job and without a network, and ends it at its first line. It is the only evidence about a node. What
// happens to the turns of jobs is not: a job may make its own start fail.

// trialPrefix begins the ID that a trial start has in place of a job's.
const trialPrefix = "trial_"

func isTrial(id job.ID) bool { return strings.HasPrefix(string(id), trialPrefix) }

// trialID returns the ID of this node's trial starts of the CLI, or of the simulated Claude: both may run at once.
func (s *nodeDir) trialID(simulated bool) job.ID {
	return job.ID(trialPrefix + strconv.FormatBool(simulated) + "_" + s.node)
}

// startOnTrial makes a trial start of the CLI, or of the simulated Claude, and returns why it failed.
func (r *Runner) startOnTrial(ctx context.Context, simulated bool) error {
	limit := r.ability.trialTime
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it printed nothing within %s", limit))
	defer cancel()
	id := r.nodeDir.trialID(simulated)
	st := &lifecycle.Turn{Job: job.Job{ID: id, Turn: 1, Simulated: simulated}, Conversation: uuid.NewString()}
	st.Job.Options.Simulate = job.SimulateManual // it makes no callback
	kinds, _ := kind.Load(kind.Builtin())
	k, _ := kinds.Get(lifecycle.InterpretingKind)
	p := claude.Prompt{
		Kind: k, Input: json.RawMessage(`{}`), Structured: r.opts.Structured, Hold: r.opts.Hold, Callback: r.callback(st),
	}
	r.removeJobDir(id)
	defer r.removeJobDir(id)
	defer func() { _ = r.removeConversation(filepath.Join(r.conversations(), st.Conversation)) }()
	d, err := r.program(ctx, p, st, nil, "Reply with OK.")
	if err != nil {
		return err
	}
	d.Env = claude.Offline(d.Env)
	proc, err := r.startProcess(ctx, d)
	if proc == nil {
		_, message := r.whyNotStarted(err)
		return errors.New(message)
	}
	defer func() {
		proc.Kill()
		r.sweeper.Add(proc.Marker)
		<-proc.Done()
	}()
	return r.awaitFirstLine(ctx, proc, d)
}

// TryCLI makes a trial start of the CLI, and returns why it failed.
func (r *Runner) TryCLI(ctx context.Context) error { return r.startOnTrial(ctx, false) }

// awaitFirstLine returns nil once a process has printed its first line.
func (r *Runner) awaitFirstLine(ctx context.Context, proc *process.Process, d process.Detached) error {
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	for ended := false; ; {
		var printed claude.Reader
		_, _ = printed.Write(tail(d.Files.Stdout, pieceSize))
		if printed.Close(); printed.Started {
			return nil
		}
		if ended {
			exit, stderr := proc.Exit(), string(mask(tail(d.Files.Stderr, shownStderr), r.secrets))
			if exit.Code == 0 {
				return errors.New("it ended without printing a line")
			}
			_, message := claude.Explain(exit, nil, stderr)
			return errors.New(strings.TrimSpace(message + " " + d.Sandbox.Reached(d.Limits, exit.Code, exit.Signal, stderr)))
		}
		select {
		case <-proc.Done():
			ended = true
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
