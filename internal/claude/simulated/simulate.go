package simulated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ringback/internal/claude"
	"ringback/internal/job"
)

// Options configure a run of the simulated Claude.
type Options struct {
	// Args are the CLI's arguments; unknown ones are ignored.
	Args []string
	// Behaviour selects the behaviour; empty means success.
	Behaviour job.Simulation
	// Pace is the pause between its steps.
	Pace time.Duration
	// Dir is the working directory, in which it writes payloads and stores the
	// conversation; empty means the process's own.
	Dir string
	// Stdin holds the prompt, Stdout gets the stream, Stderr the errors.
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
	if a.tools != nil {
		_ = a.tools.Close()
	}
	if ctx.Err() != nil { // like the real CLI, without a last line
		return ended
	}
	a.stream.result(err, a.structured)
	if err != nil {
		return 1
	}
	return 0
}

// newActor reads the arguments and the prompt.
func newActor(ctx context.Context, o Options) (*actor, error) {
	if o.Behaviour == job.SimulateNone {
		o.Behaviour = job.SimulateSuccess
	}
	if !slices.Contains(job.Simulations[:], o.Behaviour) {
		return nil, fmt.Errorf("RINGBACK_SIMULATE is %q: want success, repair, failure, silence or manual", o.Behaviour)
	}
	text, err := io.ReadAll(o.Stdin)
	if err != nil {
		return nil, fmt.Errorf("reading the prompt: %w", err)
	}
	if o.Dir == "" {
		if o.Dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(string(text)) == "" {
		return nil, errors.New("there is no prompt on standard input")
	}
	args := readArguments(o.Args)
	if args.conversation == "" {
		args.conversation = uuid.NewString()
	}
	parts, unread := claude.ReadPrompt(string(text))
	if parts, err = recall(o.Dir, args, parts); err != nil {
		return nil, err
	}
	var over *tools
	var unconnected error
	if args.mcpConfig != "" {
		over, unconnected = connect(ctx, args.mcpConfig)
	}
	if over != nil {
		unconnected = over.addTo(&parts)
	}
	p, err := newPrompt(parts)
	return &actor{
		ctx: ctx, opts: o, args: args, prompt: p, tools: over, unread: cmp.Or(unread, unconnected, err),
		stream: newStream(o.Stdout, args.conversation, parts.Callback.Signature, len(text)),
	}, nil
}
