package claude

import (
	"encoding/json"
	"time"
)

// hookMargin is the time, in addition to HOLD, that the CLI waits for the response to its
// hook and to a call over MCP.
const hookMargin = time.Minute

// The headers in which the CLI's hook and its MCP client identify their request.
const (
	HeaderRequestID = "X-Ringback-Request-Id"
	HeaderSignature = "X-Ringback-Signature"
)

func (c Callback) headers() map[string]string {
	return map[string]string{HeaderRequestID: c.RequestID, HeaderSignature: c.Signature}
}

// The CLI hooks that are used.
const (
	// PreToolUse runs before each tool call. PostToolBatch runs when all calls of a step have ended,
	// with any outcome.
	PreToolUse    = "PreToolUse"
	PostToolBatch = "PostToolBatch"
	// Stop runs when Claude ends its turn, but not when a subagent ends.
	Stop = "Stop"
)

// The CLI's own tools with which Claude asks the user: to answer a question, and to approve a
// plan, which it makes after entering plan mode.
const (
	AskUserQuestion = "AskUserQuestion"
	EnterPlanMode   = "EnterPlanMode"
	ExitPlanMode    = "ExitPlanMode"
)

// QuestionsAnswered begins the response of AskUserQuestion that contains the user's answers.
const QuestionsAnswered = "Your questions have been answered"

// Judged selects the tool calls that the CLI asks us about before it makes them.
type Judged string

// The values of Judged.
const (
	Nothing    Judged = ""
	Questions  Judged = AskUserQuestion + "|" + ExitPlanMode
	Everything Judged = "*"
)

// Settings returns the CLI settings that make it notify us of each step and of the turn's end, so
// that Claude immediately gets new messages and what is missing, and of each judged call before it
// is made. They contain the signature, so they must be passed in a file, not in argv.
func Settings(c Callback, hold time.Duration, judged Judged) ([]byte, error) {
	hooks := map[string]any{}
	add := func(event, tools, onFailure string, timeout time.Duration) {
		hooks[event] = []any{map[string]any{"matcher": tools, "hooks": []any{map[string]any{
			"type": "http", "url": c.BaseURL + "/api/claude/tool-calls", "timeout": int(timeout.Seconds()), "headers": c.headers(),
			"onFailure": onFailure,
		}}}}
	}
	if judged != Nothing { // without an answer, the CLI would run what it permits by itself
		add(PreToolUse, string(judged), "block", hold+hookMargin)
	}
	add(PostToolBatch, "*", "continue", hookMargin)
	add(Stop, "*", "continue", hookMargin)
	return json.Marshal(map[string]any{"hooks": hooks})
}

// MCPServer is our MCP server's name in the CLI, and MCPPath the path that it is served
// at.
const (
	MCPServer = "ringback"
	MCPPath   = "/api/claude/mcp"
)

// MCPTool returns the CLI's name for a tool of our MCP server.
func MCPTool(name string) string { return "mcp__" + MCPServer + "__" + name }

// MCPConfig returns the CLI's --mcp-config for callbacks over MCP. It contains the
// signature, so it must be passed in a file, not in argv. hold limits how long a call
// waits for the user's answer.
func MCPConfig(c Callback, hold time.Duration) ([]byte, error) {
	return json.Marshal(map[string]any{"mcpServers": map[string]any{MCPServer: map[string]any{
		"type": "http", "url": c.BaseURL + MCPPath, "headers": c.headers(),
		"timeout": (hold + hookMargin).Milliseconds(), // for a call; the CLI's default is one minute
		// The CLI waits for the server before it calls the model, and shows the model all of its tools,
		// however many tools other servers have.
		"alwaysLoad": true,
	}}})
}
