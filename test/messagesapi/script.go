package messagesapi

import (
	"net/http"
	"time"
)

// Script replies to each request of the CLI's conversation. It is called for one request at
// a time, so it may keep state.
type Script func(Request) Reply

// Steps returns a script that gives the replies one after the other, and repeats the last
// one.
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

	// Pause, if set, suspends a stream after its beginning until it is closed.
	Pause <-chan struct{}

	status int // of an HTTP error, else 0
	// resetsAt is the end of the account's usage limit, if that is the error.
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

// Say returns a reply of only text, which ends the CLI's turn.
func Say(text string) Reply { return Reply{Text: text} }

// Use returns a reply that uses one tool.
func Use(name string, input map[string]any) Reply {
	return Reply{Tools: []Tool{{Name: name, Input: input}}}
}

// Bash returns a reply that runs a command.
func Bash(command string) Reply {
	return Use("Bash", map[string]any{"command": command, "description": "run a command"})
}

// Fail returns an error of the API instead of a reply. The CLI retries after 401, 429 and
// 5xx, CLAUDE_CODE_MAX_RETRIES times.
func Fail(status int) Reply {
	return Reply{Text: http.StatusText(status), status: status}
}

// UsageLimit returns the API's error for an account that has used up its quota until
// resetsAt. The CLI recognizes it if it is authenticated by an account's token (see
// CLAUDE_CODE_OAUTH_TOKEN), and does not retry.
func UsageLimit(resetsAt time.Time) Reply {
	return Reply{Text: "This request would exceed your account's rate limit.", status: http.StatusTooManyRequests, resetsAt: resetsAt}
}

// Hang gives no reply at all: the request stays open until the CLI disconnects or the test
// ends.
func Hang() Reply { return Reply{hang: true} }
