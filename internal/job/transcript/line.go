// Package transcript parses what the Claude CLI prints with --output-format stream-json:
// one JSON object per line.
package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
)

// Line is one line of the CLI's stream, as far as we use it. Its types grow with each
// version; for an unknown one, only Type is useful.
type Line struct {
	// Type is system, assistant, user, result or something else; empty if the line is not
	// a JSON object.
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Model   string `json:"model"` // Set in lines of subtype init, which begin a turn.
	// Text is set in the lines that Ringback adds: of type ringback, and of type stderr with
	// what the CLI printed to standard error.
	Text            string   `json:"text"`
	Message         *Message `json:"message"`            // Set in lines of type assistant and user.
	ParentToolUseID string   `json:"parent_tool_use_id"` // The tool call in which a subagent printed the line.
	// RetryDelayMS is set in lines of subtype api_retry: the delay before the CLI retries a request.
	RetryDelayMS int64 `json:"retry_delay_ms"`
	// Event is set in lines of type stream_event: a part of a message that is being written.
	Event     *StreamEvent `json:"event"`
	RateLimit *RateLimit   `json:"rate_limit_info"` // Set in lines of type rate_limit_event.
	Result    *Result      `json:"-"`               // The line itself if its type is result.
}

// StreamEvent is a part of a message, as the model's API streams it.
type StreamEvent struct {
	Type  string      `json:"type"`          // Content_block_start, content_block_delta, content_block_stop or something else.
	Block Block       `json:"content_block"` // The block that begins.
	Delta StreamDelta `json:"delta"`         // What is appended to it.
}

// StreamDelta is an addition to a block: to its text, or to the model's thinking.
type StreamDelta struct {
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

// KeepsAlive reports whether a line is only a keepalive and shows no progress. Text that is not
// a line of the CLI counts as one.
func (l Line) KeepsAlive() bool {
	switch l.Type {
	case "", "keep_alive", "tool_progress":
		return true
	case "stream_event":
		return l.Event == nil || l.Event.Type == "ping"
	}
	return false
}

// Waits returns the time until which the CLI waits for the model's API, according to a line
// printed at the given time. It returns zero if the CLI does not wait.
func (l Line) Waits(at time.Time) time.Time {
	switch {
	case l.RateLimit != nil:
		return l.RateLimit.End()
	case l.Subtype == "api_retry":
		return at.Add(time.Duration(bounded(l.RetryDelayMS, maxRetryDelayMS)) * time.Millisecond)
	}
	return time.Time{}
}

// maxRetryDelayMS is the longest delay that the CLI makes before a retry.
const maxRetryDelayMS = 60 * 60 * 1000

// RateLimit is the CLI's report about its account's rate limit.
type RateLimit struct {
	Status string `json:"status"` // Allowed, allowed_warning or rejected.
	// ResetsAt is the time at which the account can continue, in seconds since 1970; 0 if the API did
	// not report it.
	ResetsAt int64 `json:"resetsAt"`
}

// End returns the time at which a reached limit ends; zero if no limit was reached or the
// time is unknown.
func (l *RateLimit) End() time.Time {
	if l.Status != "rejected" || l.ResetsAt <= 0 {
		return time.Time{}
	}
	return time.Unix(l.ResetsAt, 0).UTC()
}

// Message is a message of the conversation, or a part of one: the CLI prints a line for
// each block, with the same ID.
type Message struct {
	ID     string  `json:"id"`
	Role   string  `json:"role"`
	Model  string  `json:"model"` // Synthetic if the CLI itself wrote the message, for example about a failed request.
	Blocks Blocks  `json:"content"`
	Usage  *Tokens `json:"usage"` // That of the whole message, repeated on each of its lines.
}

// Block is a part of a message.
type Block struct {
	Type string `json:"type"` // Text, tool_use, tool_result or something else.
	Text string `json:"text"` // Claude's text.
	// ToolUseID identifies the tool call that this block is, or is the result of.
	ToolUseID string `json:"-"`
	// Name and Input are the tool and its input.
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// Output is a tool's result: a JSON text or list of blocks. IsError is set if the call
	// failed or was refused.
	Output  json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// Blocks is the content of a message.
type Blocks []Block

// UnmarshalJSON accepts a list of blocks, or a text, which is one block.
func (b *Blocks) UnmarshalJSON(content []byte) error {
	var text string
	if json.Unmarshal(content, &text) == nil && text != "" {
		*b = Blocks{{Type: "text", Text: text}}
		return nil
	}
	var blocks []struct {
		Block
		ID  string `json:"id"`          // of a use
		For string `json:"tool_use_id"` // of a result
	}
	if err := unmarshal(content, &blocks); err != nil {
		return nil //nolint:nilerr // a block of another form has nothing to show
	}
	*b = make(Blocks, len(blocks))
	for i, one := range blocks {
		one.ToolUseID = one.ID + one.For
		(*b)[i] = one.Block
	}
	return nil
}

// Result is the stream's last line.
type Result struct {
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Text    string `json:"result"`
	// SessionID identifies the conversation.
	SessionID  string `json:"session_id"`
	DurationMS int64  `json:"duration_ms"`
	// CostUSD is the cost of the whole conversation, including earlier processes; Tokens
	// are those of this process.
	CostUSD float64 `json:"total_cost_usd"`
	Tokens  Tokens  `json:"usage"`
	// StructuredOutput is the result of a turn that was asked for structured output; nil
	// if it gave none.
	StructuredOutput json.RawMessage `json:"structured_output"`
	Errors           []string        `json:"errors"` // The CLI's own error messages.
	// APIStatus is the HTTP status with which the model's API failed; 0 if it did not.
	APIStatus    int      `json:"api_error_status"`
	APIErrorType string   `json:"api_error_type"`     // The API's own name for that error.
	APIError     string   `json:"api_error"`          // The CLI's name for it.
	Denials      []Denial `json:"permission_denials"` // The tool calls that were refused.
}

// Denial is a tool call that was refused.
type Denial struct {
	Tool string `json:"tool_name"`
}

// Tokens are counted as the API counts them, with cached input separate.
type Tokens struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// No turn uses more than these. A job's process may print anything, so its numbers are bounded.
const (
	MaxTokens  = 1e9
	maxCostUSD = 1e5
)

// Usage returns them as a job's usage.
func (t Tokens) Usage() job.Usage {
	input := bounded(t.Input, MaxTokens) + bounded(t.CacheRead, MaxTokens) + bounded(t.CacheCreation, MaxTokens)
	return job.Usage{
		InputTokens: min(input, MaxTokens), OutputTokens: bounded(t.Output, MaxTokens),
		CacheReadTokens: bounded(t.CacheRead, MaxTokens), CacheWriteTokens: bounded(t.CacheCreation, MaxTokens),
	}
}

// Usage returns the usage that the result reports.
func (r *Result) Usage() job.Usage {
	u := r.Tokens.Usage()
	u.CostUSD = bounded(r.CostUSD, maxCostUSD)
	return u
}

func bounded[N int64 | float64](reported, most N) N { return min(max(reported, 0), most) }

// Mend replaces what makes a line invalid by U+FFFD: bytes that are no UTF-8, escapes that JSON does not
// have, and halves of characters, which some parsers refuse. It returns other text unchanged.
func Mend(line []byte) []byte {
	if utf8.Valid(line) && json.Valid(line) && !surrogate().Match(line) {
		return line
	}
	mended := escape().ReplaceAllFunc(bytes.ToValidUTF8(line, []byte("\uFFFD")), func(found []byte) []byte {
		switch {
		case len(found) == len(`\ud83d\ude00`), len(found) == 2 && strings.ContainsRune(`"\/bfnrtu`, rune(found[1])):
			return found
		case len(found) == len(`\ud83d`):
			return []byte("\uFFFD")
		}
		return append([]byte("\uFFFD"), found[1:]...)
	})
	if !json.Valid(mended) {
		return line
	}
	return mended
}

// surrogate matches the escape of a half of a character. escape matches that of a whole one, which two
// halves are, or else that of a half, or else the beginning of any other.
var (
	surrogate = lazy.Regexp(`(?i)\\ud[89a-f]`)
	escape    = lazy.Regexp(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\ud[89a-f][0-9a-f]{2}|\\.`)
)

// ParseLine parses a line. It accepts any input and leaves out what it does not
// recognize.
func ParseLine(text []byte) Line {
	if surrogate().Match(text) {
		text = Mend(text)
	}
	var l Line
	if unmarshal(text, &l) != nil {
		l, text = Line{}, Mend(text)
		if unmarshal(text, &l) != nil {
			return Line{}
		}
	}
	if l.Message != nil && reflect.ValueOf(*l.Message).IsZero() {
		l.Message = nil // it was something else
	}
	if l.Type == "result" {
		l.Result = &Result{}
		_ = unmarshal(text, l.Result)
	}
	return l
}

// unmarshal parses a JSON text. A value that its field cannot hold, such as a number out of range, leaves only
// that field unset.
func unmarshal(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	if _, misfit := errors.AsType[*json.UnmarshalTypeError](err); misfit {
		return nil
	}
	return err
}
