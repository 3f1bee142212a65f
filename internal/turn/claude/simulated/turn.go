package simulated

import (
	"encoding/json"
	"errors"
	"time"

	"ringback/internal/job"
	"ringback/internal/turn/claude"
)

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

func readTurn(text []byte) (t Turn, err error) {
	if json.Unmarshal(text, &t) != nil {
		return t, errors.New("standard input does not describe a turn: Ringback runs this command itself")
	}
	return t, nil
}
