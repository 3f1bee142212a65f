package claude

import "bytes"

// partialPrefix begins the lines of messages that are being written.
var partialPrefix = []byte(`{"type":"stream_event"`)

// WholeLines drops the lines of messages that are being written: each comes as a whole line later.
type WholeLines struct {
	// within is true within a line, of which skip says whether it is dropped.
	within, skip bool
}

// Keep returns what is left of the next piece of a stream. A line's beginning is in one piece.
func (w *WholeLines) Keep(piece []byte) []byte {
	kept := make([]byte, 0, len(piece))
	for line := range bytes.Lines(piece) {
		if !w.within {
			w.skip = bytes.HasPrefix(line, partialPrefix)
		}
		w.within = line[len(line)-1] != '\n'
		if !w.skip {
			kept = append(kept, line...)
		}
	}
	return kept
}
