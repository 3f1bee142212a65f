package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/claude"
)

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
