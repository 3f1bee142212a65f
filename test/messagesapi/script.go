package messagesapi

import (
	"net/http"
	"time"
)

// Script answers each request of the CLI's conversation. It is called for one
// request at a time, so it may keep state.
type Script func(Request) Reply

// Steps is a script that gives the replies one after the other, and repeats the
// last one.
func Steps(replies ...Reply) Script {
	return func(r Request) Reply { return replies[min(r.Turn, len(replies))-1] }
}

// Reply is what the model says: thinking, text and then uses of tools. One without
// tools ends the CLI's turn.
type Reply struct {
	Thinking string
	Text     string
	Tools    []Tool
	// Usage is what the reply costs; the zero value stands for 1000 tokens in and
	// 50 out.
	Usage Usage

	// Pause, if set, holds a stream back behind its beginning until it is closed.
	Pause <-chan struct{}

	status int // of an HTTP error, else 0
	// resetsAt is when the usage limit of an account ends that is the error.
	resetsAt time.Time
	hang     bool
}

// Tool is the use of a tool.
type Tool struct {
	Name  string
	Input map[string]any
}

// Usage counts tokens.
type Usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// Say is a reply of text only, which ends the CLI's turn.
func Say(text string) Reply { return Reply{Text: text} }

// Use is a reply that uses one tool.
func Use(name string, input map[string]any) Reply {
	return Reply{Tools: []Tool{{Name: name, Input: input}}}
}

// Bash is a reply that runs a command.
func Bash(command string) Reply {
	return Use("Bash", map[string]any{"command": command, "description": "run a command"})
}

// Structured is the reply that submits the result of a CLI started with
// --json-schema.
func Structured(result map[string]any) Reply { return Use("StructuredOutput", result) }

// Fail is an error of the API instead of a reply. The CLI tries again after
// 401, 429 and 5xx: CLAUDE_CODE_MAX_RETRIES says how often.
func Fail(status int) Reply {
	return Reply{Text: http.StatusText(status), status: status}
}

// UsageLimit is what the API answers an account that has used up what it may use until a
// moment. The CLI heeds it where it is signed in by a token of an account (see
// CLAUDE_CODE_OAUTH_TOKEN), and does not try again.
func UsageLimit(resetsAt time.Time) Reply {
	return Reply{Text: "This request would exceed your account's rate limit.", status: http.StatusTooManyRequests, resetsAt: resetsAt}
}

// Hang is no reply at all: the request stays open until the CLI goes away or
// the test ends.
func Hang() Reply { return Reply{hang: true} }
