package claude_test

import (
	"strings"
	"testing"

	"ringback/internal/claude"
)

// However the stream is cut between lines, the lines of messages that are being written are dropped,
// also one of which only the beginning is in a piece.
func TestLinesOfPartialMessagesAreDropped(t *testing.T) {
	t.Parallel()
	const partial, whole, text = `{"type":"stream_event","event":{}}` + "\n", `{"type":"assistant","message":{}}` + "\n", "compiling stream_event\n"
	for name, pieces := range map[string][]string{
		"at once":    {partial + whole + partial + text},
		"by lines":   {partial, whole, partial, text},
		"long lines": {`{"type":"stream_event","event":{`, `"type":"stream_event"`, "}}\n" + `{"type":"assistant",`, `"message":{}}` + "\n" + partial + text},
	} {
		var lines claude.WholeLines
		var kept strings.Builder
		for _, piece := range pieces {
			kept.Write(lines.Keep([]byte(piece)))
		}
		if kept.String() != whole+text {
			t.Errorf("%s: kept %q", name, kept.String())
		}
	}
}
