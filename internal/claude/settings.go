package claude

import (
	"encoding/json"
	"time"
)

// patience is how much longer than HOLD the CLI waits for the answer to its hook, and to a
// call over MCP.
const patience = time.Minute

// The headers in which the CLI's hook says for which request it calls, and its MCP client.
const (
	HeaderRequestID = "X-Ringback-Request-Id"
	HeaderSignature = "X-Ringback-Signature"
)

func (c Callback) headers() map[string]string {
	return map[string]string{HeaderRequestID: c.RequestID, HeaderSignature: c.Signature}
}

// The CLI's hooks that are used.
const (
	// PreToolUse comes before each call of a tool, PostToolBatch when all calls of a step have ended,
	// whatever became of them.
	PreToolUse    = "PreToolUse"
	PostToolBatch = "PostToolBatch"
	// Stop comes when Claude ends its turn, but not when a subagent ends.
	Stop = "Stop"
)

// The CLI's own tools by which Claude asks the user: a question, and to approve a plan, which it
// makes once it has entered plan mode.
const (
	AskUserQuestion = "AskUserQuestion"
	EnterPlanMode   = "EnterPlanMode"
	ExitPlanMode    = "ExitPlanMode"
)

// Judged says which calls of tools the CLI asks us about before it makes them.
type Judged string

// What is judged.
const (
	Nothing    Judged = ""
	Questions  Judged = AskUserQuestion + "|" + ExitPlanMode
	Everything Judged = "*"
)

// Settings are the CLI's settings that have it tell us of each step and of the turn's end, so that
// Claude hears at once what people write and what is missing, and of each call that is judged
// first. They hold the signature, so they belong into a file, not into argv.
func Settings(c Callback, hold time.Duration, judged Judged) ([]byte, error) {
	type hook struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Timeout int               `json:"timeout"`
	}
	type matcher struct {
		Matcher string `json:"matcher"`
		Hooks   []hook `json:"hooks"`
	}
	hooks := map[string][]matcher{}
	add := func(event, tools string, timeout time.Duration) {
		hooks[event] = []matcher{{Matcher: tools, Hooks: []hook{{
			Type: "http", URL: c.BaseURL + "/api/claude/tool-calls", Timeout: int(timeout.Seconds()), Headers: c.headers(),
		}}}}
	}
	if judged != Nothing {
		add(PreToolUse, string(judged), hold+patience)
	}
	add(PostToolBatch, "*", patience)
	add(Stop, "*", patience)
	return json.Marshal(map[string]any{"hooks": hooks})
}
