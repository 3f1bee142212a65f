package claude

import (
	"bytes"
	"encoding/json"

	"ringback/internal/job"
)

// Line is one line of the CLI's stream, as far as we use it. Its types grow
// with each version: what is not known is skipped.
type Line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	// Message stands in lines of type assistant and user.
	Message *Message `json:"message"`
}

// Message is a message of the conversation.
type Message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Usage   *tokens         `json:"usage"`
}

// Result is the stream's last line.
type Result struct {
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Text    string `json:"result"`
	// CostUSD is what the whole conversation cost, earlier processes included;
	// Tokens are those of this process.
	CostUSD          float64         `json:"total_cost_usd"`
	Tokens           tokens          `json:"usage"`
	StructuredOutput json.RawMessage `json:"structured_output"`
	Errors           []string        `json:"errors"`
}

type tokens struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// maxLine is the longest line that is looked at; longer ones are skipped.
const maxLine = 8 << 20

// Reader takes the CLI's stream piece by piece and remembers what it tells. It
// never fails: whatever a program prints, it is only telemetry.
type Reader struct {
	partial  []byte
	skipping bool
	begun    bool
	result   *Result
	seen     job.Usage
}

// NewReader returns a reader at the beginning of a stream.
func NewReader() *Reader { return &Reader{} }

// Write takes the next piece of the stream.
func (r *Reader) Write(piece []byte) (int, error) {
	n := len(piece)
	for {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 {
			break
		}
		if !r.skipping {
			r.line(append(r.partial, piece[:end]...))
		}
		r.partial, r.skipping = r.partial[:0], false
		piece = piece[end+1:]
	}
	if r.skipping = r.skipping || len(r.partial)+len(piece) > maxLine; r.skipping {
		r.partial = nil
		return n, nil
	}
	r.partial = append(r.partial, piece...)
	return n, nil
}

// Close takes what stands after the last line break.
func (r *Reader) Close() {
	if !r.skipping {
		r.line(r.partial)
	}
	r.partial = nil
}

func (r *Reader) line(text []byte) {
	var l Line
	if json.Unmarshal(text, &l) != nil {
		return
	}
	switch l.Type {
	case "system":
		r.begun = r.begun || l.Subtype == "init"
	case "assistant":
		if l.Message != nil && l.Message.Usage != nil {
			r.seen = r.seen.Plus(l.Message.Usage.usage())
		}
	case "result":
		var result Result
		if json.Unmarshal(text, &result) == nil {
			r.result = &result
		}
	}
}

// Begun reports whether the CLI began or resumed the conversation.
func (r *Reader) Begun() bool { return r.begun }

// Result returns the stream's last line; nil when the stream broke off.
func (r *Reader) Result() *Result { return r.result }

// Usage is what the stream says was used. Where it broke off, that is the sum
// of the messages seen.
func (r *Reader) Usage() job.Usage {
	if r.result == nil {
		return r.seen
	}
	u := r.result.Tokens.usage()
	u.CostUSD = r.result.CostUSD
	return u
}

func (t tokens) usage() job.Usage {
	return job.Usage{InputTokens: t.Input + t.CacheRead + t.CacheCreation, OutputTokens: t.Output}
}
