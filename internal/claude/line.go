package claude

import (
	"encoding/json"
	"time"

	"ringback/internal/job"
)

// Line is one line of the CLI's stream, as far as we use it. Its types grow
// with each version: of one that is not known, only Type is of use.
type Line struct {
	// Type is system, assistant, user, result or something else; empty when the
	// line is no JSON object.
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	// Conversation is the CLI's session.
	Conversation string `json:"session_id"`
	// Message stands in lines of type assistant and user.
	Message *Message `json:"message"`
	// ParentToolUseID is the call of a tool within which a subagent printed the line.
	ParentToolUseID string `json:"parent_tool_use_id"`
	// RetryDelayMS stands in lines of subtype api_retry: after how long the CLI repeats a request.
	RetryDelayMS int64 `json:"retry_delay_ms"`
	// Event stands in lines of type stream_event: a piece of a message that is being written.
	Event *StreamEvent `json:"event"`
	// RateLimit stands in lines of type rate_limit_event.
	RateLimit *RateLimit `json:"rate_limit_info"`
	// Result is the line itself when its type is result.
	Result *Result `json:"-"`
}

// StreamEvent is a piece of a message, as the model's API streams it.
type StreamEvent struct {
	// Type is content_block_start, content_block_delta, content_block_stop or something else.
	Type string `json:"type"`
	// Block is what begins, Delta what is added to it.
	Block Block       `json:"content_block"`
	Delta StreamDelta `json:"delta"`
}

// StreamDelta is what is added to a block.
type StreamDelta struct {
	// Type is text_delta, thinking_delta or something else.
	Type string `json:"type"`
	Text string `json:"text"`
	// Thinking is added to the model's thinking.
	Thinking string `json:"thinking"`
}

// KeepsAlive reports whether the CLI prints a line for no more than being there: the line shows
// no progress. What is no line of the CLI's counts as such.
func (l Line) KeepsAlive() bool {
	switch l.Type {
	case "", "keep_alive", "tool_progress":
		return true
	case "stream_event":
		return l.Event == nil || l.Event.Type == "ping"
	}
	return false
}

// Waits returns until when the CLI waits for the model's API, by a line printed at some time; zero
// if it does not.
func (l Line) Waits(at time.Time) time.Time {
	switch {
	case l.RateLimit != nil:
		return l.RateLimit.end()
	case l.Subtype == "api_retry":
		return at.Add(time.Duration(bounded(l.RetryDelayMS, maxRetryDelayMS)) * time.Millisecond)
	}
	return time.Time{}
}

// maxRetryDelayMS is the longest pause that the CLI makes before it repeats a request.
const maxRetryDelayMS = 60 * 60 * 1000

// RateLimit is what the CLI tells of what its account may use.
type RateLimit struct {
	// Status is allowed, allowed_warning or rejected.
	Status string `json:"status"`
	// ResetsAt is when the account may go on, in seconds since 1970; 0: the API did not say.
	ResetsAt int64 `json:"resetsAt"`
}

// Message is a message of the conversation, or a part of one: the CLI prints a
// line for each block, with the same ID.
type Message struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	// Model is synthetic where the CLI itself speaks: that a request has failed, say.
	Model  string  `json:"model"`
	Blocks []Block `json:"-"`
	// Usage is that of the whole message, on each of its lines.
	Usage *tokens `json:"usage"`
}

// Block is a part of a message.
type Block struct {
	// Type is text, tool_use, tool_result or something else.
	Type string `json:"type"`
	// Text is what Claude says.
	Text string `json:"text"`
	// ToolUseID says which use of a tool this is, or is the result of.
	ToolUseID string `json:"-"`
	// Name and Input tell the tool and what it was given.
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// Output is what a tool gave back: a JSON text or list of blocks. IsError says
	// that it failed or was refused.
	Output  json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// Result is the stream's last line.
type Result struct {
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Text    string `json:"result"`
	// StopReason is tool_deferred when Deferred waits for a person.
	StopReason string `json:"stop_reason"`
	// CostUSD is what the whole conversation cost, earlier processes included;
	// Tokens are those of this process.
	CostUSD float64 `json:"total_cost_usd"`
	Tokens  tokens  `json:"usage"`
	// StructuredOutput is the result of a turn that was asked for it; nil when
	// none was given.
	StructuredOutput json.RawMessage `json:"structured_output"`
	// Errors are the CLI's own words about what went wrong.
	Errors []string `json:"errors"`
	// APIStatus is the HTTP status that the model's API failed with; 0: none.
	APIStatus int `json:"api_error_status"`
	// APIErrorType is the API's own name of that error, and APIError the CLI's.
	APIErrorType string `json:"api_error_type"`
	APIError     string `json:"api_error"`
	// Denials are the uses of tools that were refused.
	Denials []Denial `json:"permission_denials"`
	// Deferred is the use of a tool that a hook put off; nil when there is none.
	Deferred *ToolUse `json:"deferred_tool_use"`
}

// Denial is the use of a tool that was refused.
type Denial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

// ToolUse is the use of a tool.
type ToolUse struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// tokens counts them as the API does, cached input apart.
type tokens struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// No turn uses more than these: what a job's process prints is not to be believed without bounds.
const (
	maxTokens  = 1e9
	maxCostUSD = 1e5
)

func (t tokens) usage() job.Usage {
	input := bounded(t.Input, maxTokens) + bounded(t.CacheRead, maxTokens) + bounded(t.CacheCreation, maxTokens)
	return job.Usage{
		InputTokens: min(input, maxTokens), OutputTokens: bounded(t.Output, maxTokens),
		CacheReadTokens: bounded(t.CacheRead, maxTokens), CacheWriteTokens: bounded(t.CacheCreation, maxTokens),
	}
}

// bounded is a number that was reported, between 0 and most.
func bounded[N int64 | float64](reported, most N) N { return min(max(reported, 0), most) }

// ParseLine reads a line. It takes anything: what does not look as expected is
// left out.
func ParseLine(text []byte) Line {
	var l Line
	if json.Unmarshal(text, &l) != nil {
		return lineType(text)
	}
	if l.Type == "result" {
		var r Result
		if json.Unmarshal(text, &r) == nil {
			l.Result = &r
		}
	}
	return l
}

// lineType reads a line of which all but the type is unlike what we know.
func lineType(text []byte) Line {
	var l struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(text, &l) != nil {
		return Line{}
	}
	return Line{Type: l.Type}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *Message) UnmarshalJSON(text []byte) error {
	type plain Message
	wire := struct {
		*plain
		Content json.RawMessage `json:"content"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	m.Blocks = blocksOf(wire.Content)
	return nil
}

// blocksOf reads content, which is a text or a list of blocks.
func blocksOf(content json.RawMessage) []Block {
	var text string
	if json.Unmarshal(content, &text) == nil && text != "" {
		return []Block{{Type: "text", Text: text}}
	}
	var blocks []Block
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	return blocks
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *Block) UnmarshalJSON(text []byte) error {
	type plain Block
	wire := struct {
		*plain
		ID  string `json:"id"`          // of a use
		For string `json:"tool_use_id"` // of a result
	}{plain: (*plain)(b)}
	err := json.Unmarshal(text, &wire)
	b.ToolUseID = wire.ID + wire.For
	return err
}
