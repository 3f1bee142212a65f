package claude

import (
	"bytes"
	"slices"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
)

// maxLine is the longest line that is parsed; longer ones are skipped. The largest
// accepted structured output fits.
const maxLine = 8 << 20

// Reader parses the CLI's stream piece by piece. It never fails: the output of a
// program is only telemetry.
type Reader struct {
	// Started is true once the CLI has printed its first line.
	Started bool
	// Begun is true once the CLI has started or resumed the conversation.
	Begun bool
	// Prompted is true once the conversation contains the turn's prompt. The CLI adds the prompt after it
	// has begun or resumed the conversation, and before it asks the model.
	Prompted bool
	// Answered is true once the model has responded, which shows that the account has
	// reached no limit.
	Answered bool
	// ResetsAt is the time at which the limit that the account has reached ends; zero if
	// it has reached none or the API did not report the time.
	ResetsAt time.Time
	// Result is the stream's last line; nil if the stream was cut off.
	Result *transcript.Result
	// LineFunc, if set, is called with each line and the offset in the stream at which it
	// ends.
	LineFunc func(l transcript.Line, end int64)

	partial  []byte
	skipping bool
	seen     job.Usage
	last     string // the ID of the last message that was counted
	read     int64  // bytes, up to the end of the last line
	messages []StreamMessage
}

// StreamMessage is a message of the conversation, with the offset in the stream at which
// it ends.
type StreamMessage struct {
	Message transcript.Message
	End     int64
}

// Write parses the next piece of the stream.
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

// Close parses the text after the last line break.
func (r *Reader) Close() {
	if !r.skipping {
		r.line(r.partial)
	}
	r.partial = nil
}

func (r *Reader) line(text []byte) {
	l := transcript.ParseLine(text)
	if r.LineFunc != nil {
		r.LineFunc(l, r.read)
	}
	r.Started = r.Started || l.Type != ""
	r.Prompted = r.Prompted || r.Begun && (l.Type == "assistant" || l.Type == "stream_event" || l.Result != nil)
	switch {
	case l.Type == "system":
		r.Begun = r.Begun || l.Subtype == "init"
	case l.RateLimit != nil:
		r.ResetsAt = l.RateLimit.End()
	case l.Result != nil:
		r.Result = l.Result
	case l.Message != nil:
		r.message(l)
	}
}

func (r *Reader) message(l transcript.Line) {
	switch {
	case l.Type == "assistant" && l.Message.Model != synthetic:
		r.Answered = true
		r.count(l.Message)
	case l.Type != "user": // not written by Claude
		return
	}
	r.messages = append(r.messages, StreamMessage{*l.Message, r.read})
}

// synthetic is the model of messages that the CLI itself wrote.
const synthetic = "<synthetic>"

// count adds the usage of a message, once for all of its lines.
func (r *Reader) count(m *transcript.Message) {
	if m.Usage == nil || m.ID != "" && m.ID == r.last {
		return
	}
	r.last = m.ID
	r.seen = r.seen.Plus(m.Usage.Usage())
	for _, n := range []*int64{&r.seen.InputTokens, &r.seen.OutputTokens, &r.seen.CacheReadTokens, &r.seen.CacheWriteTokens} {
		*n = min(*n, transcript.MaxTokens)
	}
}

// Usage returns the usage that the stream reports. If the stream was cut off, that is
// the sum over the messages seen.
func (r *Reader) Usage() job.Usage {
	if r.Result == nil {
		return r.seen
	}
	return r.Result.Usage()
}

// Messages returns the messages since the last call.
func (r *Reader) Messages() []StreamMessage {
	messages := r.messages
	r.messages = nil
	return messages
}

// partialPrefix begins the lines of messages that are being written.
var partialPrefix = []byte(`{"type":"stream_event"`)

// WholeLines drops the lines of messages that are being written, since each message comes as a whole
// line later, and Claude's thinking.
type WholeLines struct {
	// Thinking is true to keep Claude's thinking.
	Thinking bool
	// within is true inside a line; skip is true if that line is dropped.
	within, skip bool
}

// Filter returns what remains of the next piece of a stream. The beginning of each line must be in
// one piece.
func (w *WholeLines) Filter(piece []byte) []byte {
	kept := make([]byte, 0, len(piece))
	for line := range bytes.Lines(piece) {
		if !w.within {
			w.skip = bytes.HasPrefix(line, partialPrefix) || !w.Thinking && holdsThinking(line)
		}
		isWhole := !w.within && line[len(line)-1] == '\n'
		w.within = line[len(line)-1] != '\n'
		switch {
		case w.skip:
		case isWhole:
			kept = append(kept, transcript.Mend(line)...)
		default:
			kept = append(kept, line...)
		}
	}
	return kept
}

// holdsThinking reports whether the model's thinking is in a line, or may be: in one that was cut off.
func holdsThinking(line []byte) bool {
	if !thinking().Match(line) {
		return false
	}
	l := transcript.ParseLine(line)
	if l.Message == nil {
		return l.Type == "" || l.Type == "assistant"
	}
	return slices.ContainsFunc(l.Message.Blocks, func(b transcript.Block) bool {
		return b.Type == "thinking" || b.Type == "redacted_thinking"
	})
}
