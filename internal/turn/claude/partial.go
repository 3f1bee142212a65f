package claude

import (
	"bytes"
	"slices"

	"ringback/internal/job/transcript"
)

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
