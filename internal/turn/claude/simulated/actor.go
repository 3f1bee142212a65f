package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/turn/claude"
)

type actor struct {
	ctx    context.Context //nolint:containedctx // the turn is one call
	opts   Options
	turn   Turn
	input  map[string]any
	stream *stream
	// mcp is nil if the callbacks are made with curl.
	mcp *sdk.ClientSession
	// structured is the structured output, if it was requested.
	structured any
}

func (a *actor) play() error {
	if a.opts.Behaviour == job.SimulateManual {
		return a.stayAway("A person plays Claude. The working directory is " + a.opts.Dir + ".")
	}
	if a.turn.Structured {
		return a.answer()
	}
	if a.turn.MCP {
		var err error
		if a.mcp, err = connect(a.ctx, a.turn.Callback); err != nil {
			return err
		}
		defer func() { _ = a.mcp.Close() }()
	}
	switch a.opts.Behaviour {
	case job.SimulateSilence:
		return a.stayAway(nothingToSay)
	case job.SimulateFailure:
		return a.giveUp()
	default:
	}
	if err := a.report(); err != nil {
		return err
	}
	if err := a.change(); err != nil {
		return err
	}
	done, err := a.act()
	if err != nil || done.stop {
		return err
	}
	return a.submit(done)
}

// answer returns the result as structured output instead of calling back.
func (a *actor) answer() error {
	_, result, err := makeResult(a.turn.Schema, a.turn.Input)
	if err != nil {
		return fmt.Errorf("making a result: %w", err)
	}
	if err := a.pause(); err != nil {
		return err
	}
	switch a.opts.Behaviour {
	case job.SimulateFailure:
		return errors.New("the simulated Claude was asked to fail")
	case job.SimulateNone, job.SimulateManual, job.SimulateSuccess, job.SimulateRepair:
		a.structured = result
	case job.SimulateSilence:
		return a.stayAway(nothingToSay)
	}
	return nil
}

const nothingToSay = "I have nothing to say."

func (a *actor) stayAway(text string) error {
	a.stream.text(text)
	<-a.ctx.Done()
	return a.ctx.Err()
}

func (a *actor) report() error {
	a.stream.text("I will look at the request, and report what I am doing.")
	for _, step := range []job.Activity{
		{Message: "Reading the request", Progress: 10, Type: job.Thinking},
		{Message: "Looking through what is known", Progress: 45, Type: job.Querying},
		{Message: "Putting the result together", Progress: 80, Type: job.Results},
	} {
		if err := a.pause(); err != nil {
			return err
		}
		if _, err := a.send(callback{kind.ReportProgress, "progress", "progress.json"}, map[string]any{
			"message": step.Message, "progress": step.Progress, "type": step.Type,
		}); err != nil {
			return err
		}
	}
	return a.pause()
}

func (a *actor) submit(done acted) error {
	s, result, err := makeResult(a.turn.Schema, a.turn.Input)
	if err != nil {
		return fmt.Errorf("making a result: %w", err)
	}
	withActions(s, result, done)
	first := result
	if a.opts.Behaviour == job.SimulateRepair {
		first = spoiled(s, result)
	}
	whole := callback{kind.SubmitResult, a.turn.Endpoint, "result.json"}
	_, err = a.call(whole, first)
	if refused, ok := errors.AsType[*refusal](err); ok && a.opts.Behaviour == job.SimulateRepair {
		a.stream.text("The response: " + refused.problem() + ". I correct it and send it again.")
		if err = a.pause(); err == nil {
			_, err = a.call(whole, result)
		}
	}
	if err != nil {
		return err
	}
	a.stream.text("The result was accepted.")
	return nil
}

func (a *actor) giveUp() error {
	a.stream.text("I cannot do this.")
	if err := a.pause(); err != nil {
		return err
	}
	_, err := a.call(callback{kind.ReportFailure, "failure", "failure.json"}, map[string]any{
		"error": "The simulated Claude was asked to fail.", "retryable": false,
	})
	return err
}

func (a *actor) pause() error {
	if a.opts.Pace <= 0 {
		return a.ctx.Err()
	}
	select {
	case <-a.ctx.Done():
		return a.ctx.Err()
	case <-time.After(a.opts.Pace):
		return nil
	}
}

// callback is one of the callbacks: its tool over MCP, and with curl its endpoint,
// below /api/claude/, and the file that is posted there.
type callback struct{ tool, endpoint, file string }

// call makes a callback and returns the response. If the server has refused it, the error
// is a *refusal.
func (a *actor) call(to callback, fields map[string]any) (map[string]any, error) {
	output, err := a.send(to, fields)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if job.UnmarshalExact(output, &answer) != nil {
		return nil, fmt.Errorf("%s answered something other than JSON", to.tool)
	}
	if _, ok := answer["error"].(string); ok && answer["status"] == nil {
		refused := &refusal{of: to.tool}
		_ = json.Unmarshal(output, refused) // some of it may be missing
		return nil, refused
	}
	return answer, nil
}

// send posts a callback, and shows the corresponding tool calls of Claude in the stream.
func (a *actor) send(to callback, fields map[string]any) ([]byte, error) {
	if a.mcp != nil {
		return a.useTool(to.tool, fields)
	}
	file := to.file
	payload := map[string]any{"requestId": a.turn.Callback.RequestID, "hmac": a.turn.Callback.Signature}
	maps.Copy(payload, fields)
	text, err := json.MarshalIndent(payload, "", "  ")
	if err != nil {
		return nil, err
	}
	id := a.stream.tool("Write", map[string]any{"file_path": file, "content": string(text)})
	if err := os.WriteFile(filepath.Join(a.opts.Dir, file), text, 0o600); err != nil {
		return nil, err
	}
	a.stream.toolResult(id, "File created successfully at: "+file, false)

	command := claude.Curl(a.turn.Callback.BaseURL, to.endpoint, file, a.turn.Hold)
	post := func() ([]byte, error) { return runCurl(a.ctx, a.opts.Dir, command) }
	if _, err := exec.LookPath("curl"); err != nil {
		a.stream.text("curl is not installed here, so I send this without it.")
		post = func() ([]byte, error) {
			return postWithoutCurl(a.ctx, claude.CallbackURL(a.turn.Callback.BaseURL, to.endpoint), text)
		}
	}
	id = a.stream.tool("Bash", map[string]any{"command": command})
	output, err := post()
	if err != nil {
		a.stream.toolResult(id, err.Error(), true)
		return nil, err
	}
	a.stream.toolResult(id, string(output), false)
	return output, nil
}

// refusal is the server's error response to a callback.
type refusal struct {
	of      string
	Message string       `json:"error"`
	Details []job.Detail `json:"details"`
	Hint    string       `json:"hint"`
}

// Error implements error.
func (r *refusal) Error() string { return r.of + " was refused: " + r.problem() }

func (r *refusal) problem() string {
	parts := []string{r.Message}
	for _, d := range r.Details {
		parts = append(parts, strings.TrimSpace(d.Path+" "+d.Message))
	}
	if r.Hint != "" {
		parts = append(parts, r.Hint)
	}
	return strings.Join(parts, "; ")
}

const simulatedFile = "SIMULATED.md"

// change writes the request into each repository of the workspace. The change is
// useless, but it can be reviewed, steered and approved.
func (a *actor) change() error {
	wanted := a.turn.SteerRequest
	if wanted == "" {
		wanted, _ = a.input["prompt"].(string)
	}
	for _, name := range a.turn.Repositories {
		path := filepath.Join(a.opts.Dir, filepath.Base(name), simulatedFile)
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		text = fmt.Appendf(text, "- %s\n", strings.Join(strings.Fields(wanted), " "))
		id := a.stream.tool("Write", map[string]any{"file_path": filepath.Join(name, simulatedFile), "content": string(text)})
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
		a.stream.toolResult(id, "File created successfully at: "+path, false)
	}
	return nil
}
