package claude_test

import (
	"strings"
	"testing"

	"ringback/internal/turn/claude"
	"ringback/test/must"
)

// Claude's thinking is dropped unless it is to be kept, also of a line that was cut off; what only
// looks like it is kept.
func TestThinkingIsDropped(t *testing.T) {
	t.Parallel()
	const thought = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"x"}]}}` + "\n"
	const hidden = `{"type":"assistant","message":{"role":"assistant","content":[{"type": "redacted_thinking","data":"x"}]}}` + "\n"
	const call = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Write","input":{"a":[{"type":"thinking"}]}}]}}` + "\n"
	const result = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"thinking"}]}]}}` + "\n"
	for keep, want := range map[bool]string{false: call + result, true: thought + call + hidden + result + thought[:90]} {
		lines := claude.WholeLines{Thinking: keep}
		must.Equal(t, want, string(lines.Filter([]byte(thought+call+hidden+result+thought[:90]))), "keeping", keep, "it kept")
	}
}

// However the stream is cut between lines, the lines of messages that are being written are dropped,
// even if only the beginning of a line is in a piece.
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
			kept.Write(lines.Filter([]byte(piece)))
		}
		must.Equal(t, whole+text, kept.String(), name, "kept")
	}
}

// Each line that is kept can be read by any parser of JSON.
func TestKeptLinesAreMended(t *testing.T) {
	t.Parallel()
	var lines claude.WholeLines
	kept := lines.Filter([]byte("{\"type\":\"user\",\"text\":\"a\xf0 \\ud83d b\"}\n{\"type\":\"user\""))
	must.Equal(t, "{\"type\":\"user\",\"text\":\"a\ufffd \ufffd b\"}\n{\"type\":\"user\"", string(kept), "kept")
}
