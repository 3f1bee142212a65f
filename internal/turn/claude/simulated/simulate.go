package simulated

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"ringback/internal/job"
)

// Options configure a run of the simulated Claude.
type Options struct {
	// Behaviour selects the behaviour; empty means success.
	Behaviour job.Simulation
	// Pace is the pause between its steps.
	Pace time.Duration
	// Dir is the working directory, in which it writes payloads; empty means the
	// process's own.
	Dir string
	// Stdin holds the Turn, Stdout gets the stream, Stderr the errors.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// ended is the exit code of a CLI that was terminated by SIGTERM.
const ended = 143

// Run plays one turn and returns the exit code: 0 if the turn ended as intended, 143 if
// ctx ended it, else 1.
func Run(ctx context.Context, o Options) int {
	a, err := newActor(ctx, o)
	if err != nil {
		fmt.Fprintln(o.Stderr, err)
		return 1
	}
	a.stream.init(a.opts.Dir)
	err = a.play()
	if ctx.Err() != nil { // like the real CLI, without a last line
		return ended
	}
	a.stream.result(err, a.structured)
	if err != nil {
		return 1
	}
	return 0
}

func newActor(ctx context.Context, o Options) (*actor, error) {
	if o.Behaviour == job.SimulateNone {
		o.Behaviour = job.SimulateSuccess
	}
	if !slices.Contains(job.Simulations[:], o.Behaviour) {
		return nil, fmt.Errorf("RINGBACK_SIMULATE is %q: expected success, repair, failure, silence or manual", o.Behaviour)
	}
	text, err := io.ReadAll(o.Stdin)
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	turn, err := readTurn(text)
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		if o.Dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	a := &actor{
		ctx: ctx, opts: o, turn: turn,
		stream: newStream(o.Stdout, turn.Conversation, turn.Callback.Signature, len(turn.Prompt)),
	}
	if err := job.UnmarshalExact(turn.Input, &a.input); err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	return a, nil
}
