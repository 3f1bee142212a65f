package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"ringback/internal/job"
)

// Options are the stand-in's surroundings.
type Options struct {
	// Args are the CLI's arguments; those it does not know are ignored.
	Args []string
	// Behaviour is what it plays; default success.
	Behaviour job.Simulation
	// Pace is the pause between its steps.
	Pace           time.Duration
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run plays one turn and returns the exit code.
func Run(ctx context.Context, o Options) int {
	prompt, err := io.ReadAll(o.Stdin)
	if err != nil {
		fmt.Fprintln(o.Stderr, "simulate: reading the prompt:", err)
		return 1
	}
	a := &actor{
		ctx: ctx, opts: o, prompt: readPrompt(string(prompt)), out: json.NewEncoder(o.Stdout),
		conversation: argument(o.Args, "--session-id", "--resume"),
	}
	a.say("system", map[string]any{"subtype": "init", "session_id": a.conversation, "model": "simulated", "tools": []string{"Bash", "Write"}})
	err = a.play()
	result := map[string]any{
		"subtype": "success", "is_error": err != nil, "session_id": a.conversation, "result": "Done.", "num_turns": a.calls + 1,
		"total_cost_usd": 0, "usage": map[string]int{"input_tokens": len(prompt) / 4, "output_tokens": 40 * (a.calls + 1)},
	}
	if a.structured != nil {
		result["structured_output"] = a.structured
	}
	if err != nil {
		result["subtype"], result["result"] = "error_during_execution", err.Error()
	}
	a.say("result", result)
	if err != nil {
		return 1
	}
	return 0
}

func argument(args []string, names ...string) string {
	for i, arg := range args[:max(0, len(args)-1)] {
		if slices.Contains(names, arg) {
			return args[i+1]
		}
	}
	return ""
}

// actor plays one turn.
type actor struct {
	ctx          context.Context //nolint:containedctx // the turn is one call
	opts         Options
	prompt       prompt
	out          *json.Encoder
	conversation string
	calls        int
	structured   any
}

// say prints one line of the stream.
func (a *actor) say(kind string, fields map[string]any) {
	fields["type"] = kind
	_ = a.out.Encode(fields) // nobody reads on: the stream is only telemetry
}

func (a *actor) play() error {
	if slices.Contains(a.opts.Args, "--json-schema") {
		schema, err := decodeObject([]byte(argument(a.opts.Args, "--json-schema")))
		if err != nil {
			return fmt.Errorf("reading --json-schema: %w", err)
		}
		a.structured = makeResult(schema, a.prompt.input)
		return a.pause()
	}
	if a.prompt.requestID == "" {
		return errors.New("the prompt holds no callback configuration")
	}
	switch a.opts.Behaviour {
	case job.SimulateSilence:
		return a.pause()
	case job.SimulateFailure:
		return a.giveUp()
	case job.SimulateNone, job.SimulateManual, job.SimulateSuccess, job.SimulateRepair:
	}
	if err := a.report(); err != nil {
		return err
	}
	return a.submit()
}

// report sends a few progress updates, as Claude does while it works.
func (a *actor) report() error {
	for _, step := range []job.Activity{
		{Message: "Reading the request", Progress: 10, Type: job.Thinking},
		{Message: "Looking through what is known", Progress: 35, Type: job.Querying},
		{Message: "Putting the result together", Progress: 80, Type: job.Results},
	} {
		if err := a.pause(); err != nil {
			return err
		}
		if _, err := a.call("progress", map[string]any{
			"message": step.Message, "progress": step.Progress, "type": step.Type,
		}); err != nil {
			return err
		}
	}
	return a.pause()
}

func (a *actor) submit() error {
	if err := a.remember(); err != nil {
		return err
	}
	result, ok := makeResult(a.prompt.schema, a.prompt.input).(map[string]any)
	if !ok {
		return errors.New("the result schema asks for no object")
	}
	if a.opts.Behaviour == job.SimulateRepair {
		if _, err := a.call(a.prompt.endpoint, map[string]any{"reasoning": 42}); err != nil {
			return err
		}
	}
	answer, err := a.call(a.prompt.endpoint, result)
	if err == nil && answer["success"] != true {
		err = fmt.Errorf("the result was refused: %v", answer["error"])
	}
	return err
}

// remember keeps the schema and input of a first prompt for the later turns of
// the conversation, whose prompts do not repeat them.
func (a *actor) remember() error {
	const file = "conversation.json"
	type memory struct{ Schema, Input map[string]any }
	if a.prompt.schema != nil {
		text, err := json.Marshal(memory{a.prompt.schema, a.prompt.input})
		if err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o600)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return errors.New("the prompt holds no result schema, and there is no conversation to resume")
	}
	var m memory
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&m)
	a.prompt.schema, a.prompt.input = m.Schema, m.Input
	return err
}

func (a *actor) giveUp() error {
	_, err := a.call("failure", map[string]any{
		"error": "The simulated Claude was asked to fail.", "retryable": false,
	})
	return err
}

// pause waits a moment, so that a person can follow.
func (a *actor) pause() error {
	if a.opts.Pace <= 0 {
		return a.ctx.Err()
	}
	jitter := time.Duration(rand.Int64N(int64(a.opts.Pace)/4 + 1)) //nolint:gosec // a pause needs no secrecy
	select {
	case <-a.ctx.Done():
		return a.ctx.Err()
	case <-time.After(a.opts.Pace + jitter):
		return nil
	}
}

// call writes a payload file and posts it with curl, and shows both in the
// stream, the way Claude's tools do.
func (a *actor) call(endpoint string, payload map[string]any) (map[string]any, error) {
	a.calls++
	payload["requestId"], payload["hmac"] = a.prompt.requestID, a.prompt.signature
	file := fmt.Sprintf("payload-%d.json", a.calls)
	text, err := json.MarshalIndent(payload, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	id := fmt.Sprintf("toolu_%d", a.calls)
	url := a.prompt.baseURL + "/api/claude/" + endpoint
	a.say("assistant", map[string]any{"message": map[string]any{"role": "assistant", "content": []any{map[string]any{
		"type": "tool_use", "id": id, "name": "Bash", "input": map[string]string{"command": "curl -sS -X POST " + url + " -d @" + file},
	}}}})
	output, err := post(a.ctx, url, file)
	if err != nil {
		return nil, err
	}
	a.say("user", map[string]any{"message": map[string]any{"role": "user", "content": []any{map[string]any{
		"type": "tool_result", "tool_use_id": id, "content": string(output),
	}}}})
	var answer map[string]any
	if err := json.Unmarshal(output, &answer); err != nil {
		return nil, fmt.Errorf("%s answered something other than JSON", endpoint)
	}
	return answer, nil
}
