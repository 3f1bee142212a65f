package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"ringback/internal/job"
	"ringback/internal/turn/claude"
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
	var turn Turn
	if json.Unmarshal(text, &turn) != nil {
		return nil, errors.New("standard input does not describe a turn: Ringback runs this command itself")
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

// Turn describes a turn to the simulated Claude. It is passed as JSON on standard input,
// because it contains the signature.
type Turn struct {
	Conversation string
	Callback     claude.Callback
	// Structured is set if the result is structured output. Otherwise, callbacks are made
	// over MCP if MCP is set, or with curl; Endpoint takes the result.
	Structured, MCP bool
	Endpoint        string
	// Schema is the result's JSON Schema, Input the job's input.
	Schema, Input json.RawMessage
	// Actions are the actions that the server performs for Claude.
	Actions []Action
	// Repositories are the directories of the workspace; SteerRequest is a reviewer's
	// request for this round.
	Repositories []string
	SteerRequest string
	// Answers are the questions that the user has answered so far.
	Answers []job.Checkpoint
	// Hold limits how long a call waits for the user's answer.
	Hold time.Duration
	// Prompt is the text that Claude would read, to estimate the usage.
	Prompt string
}

// Action is an action and the JSON Schema of its input.
type Action struct {
	Name  string
	Input json.RawMessage
}

// NewTurn returns a turn with the contents p of a prompt and its text.
func NewTurn(conversation string, p claude.Prompt, text string) Turn {
	t := Turn{
		Conversation: conversation, Callback: p.Callback, Structured: p.Structured, MCP: p.Kind.OverMCP(), Endpoint: p.Endpoint(),
		Schema: p.Kind.Result.ForClaude(), Input: p.Input, Answers: p.Answers, Hold: p.Hold, Prompt: text,
	}
	for _, a := range p.Kind.Policy.Actions {
		t.Actions = append(t.Actions, Action{a.Name, a.Schema().ForClaude()})
	}
	if p.Change != nil {
		for _, r := range p.Change.Repositories {
			t.Repositories = append(t.Repositories, r.Name)
		}
	}
	if p.Steering != nil {
		t.SteerRequest = p.Steering.Prompt
	}
	return t
}
