package claude

import (
	"bytes"
	"time"

	"ringback/internal/job"
)

// maxLine is the longest line that is looked at; longer ones are skipped. A
// structured output of the largest size that is accepted fits.
const maxLine = 8 << 20

// Reader takes the CLI's stream piece by piece and remembers what it tells. It
// never fails: whatever a program prints, it is only telemetry.
type Reader struct {
	partial  []byte
	skipping bool
	begun    bool
	result   *Result
	seen     job.Usage
	last     string // the id of the last message whose usage was counted
	read     int64  // bytes, up to the end of the last line
	messages []StreamMessage
	resetsAt time.Time
	answered bool
	// LineFunc, if set, is given each line and where in the stream it ends.
	LineFunc func(l Line, end int64)
}

// StreamMessage is a message of the conversation, and where in the stream it ends.
type StreamMessage struct {
	Message Message
	End     int64
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
		r.read += int64(len(r.partial) + end + 1)
		if !r.skipping {
			r.line(append(r.partial, piece[:end]...))
		}
		r.partial, r.skipping = r.partial[:0], false
		piece = piece[end+1:]
	}
	if r.skipping = r.skipping || len(r.partial)+len(piece) > maxLine; r.skipping {
		r.read += int64(len(r.partial) + len(piece))
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
	l := ParseLine(text)
	if r.LineFunc != nil {
		r.LineFunc(l, r.read)
	}
	switch {
	case l.Type == "system":
		r.begun = r.begun || l.Subtype == "init"
	case l.RateLimit != nil:
		r.resetsAt = l.RateLimit.end()
	case l.Type == "assistant" && l.Message != nil && l.Message.Model == synthetic: // Claude did not say it
	case l.Type == "assistant" && l.Message != nil:
		r.answered = true
		r.count(l.Message)
		r.messages = append(r.messages, StreamMessage{*l.Message, r.read})
	case l.Type == "user" && l.Message != nil:
		r.messages = append(r.messages, StreamMessage{*l.Message, r.read})
	case l.Result != nil:
		r.result = l.Result
	}
}

// synthetic is the model of messages that the CLI made up.
const synthetic = "<synthetic>"

// end is when a limit that was reached ends; zero where none was, or nobody knows.
func (l *RateLimit) end() time.Time {
	if l.Status != "rejected" || l.ResetsAt <= 0 {
		return time.Time{}
	}
	return time.Unix(l.ResetsAt, 0).UTC()
}

// ResetsAt is when the limit ends that the account has reached; zero where it has not, or
// the API did not say.
func (r *Reader) ResetsAt() time.Time { return r.resetsAt }

// Answered reports whether the model has answered: the account is at no limit.
func (r *Reader) Answered() bool { return r.answered }

// count adds what a message used, once for all of its lines.
func (r *Reader) count(m *Message) {
	if m.Usage == nil || m.ID != "" && m.ID == r.last {
		return
	}
	r.last = m.ID
	r.seen = r.seen.Plus(m.Usage.usage())
	for _, n := range []*int64{&r.seen.InputTokens, &r.seen.OutputTokens, &r.seen.CacheReadTokens, &r.seen.CacheWriteTokens} {
		*n = min(*n, maxTokens)
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
	u.CostUSD = bounded(r.result.CostUSD, maxCostUSD)
	return u
}

// Messages returns those that came since it was last asked.
func (r *Reader) Messages() []StreamMessage {
	messages := r.messages
	r.messages = nil
	return messages
}
