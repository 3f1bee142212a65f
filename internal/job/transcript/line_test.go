package transcript_test

import (
	"encoding/json"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/test/must"
)

// Any program of a turn may print a number that no field holds: it is the only one that is lost.
func TestANumberThatCannotBeReadLosesNoOther(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"out of range": "1e99999", "larger than an integer": "99999999999999999999", "a fraction": "1.5", "a text": `"7"`, "an object": `{"n":7}`,
		"a list": "[7]", "true": "true", "null": "null",
	} {
		l := transcript.ParseLine([]byte(`{"type":"result","duration_ms":` + bad + `,"total_cost_usd":0.25,"result":"done","usage":{` +
			`"cache_read_input_tokens":` + bad + `,"input_tokens":3,"output_tokens":4},"api_error_status":` + bad + `}`))
		must.Equal(t, job.Usage{InputTokens: 3, OutputTokens: 4, CostUSD: 0.25}, l.Result.Usage(), name)
		must.Equal(t, "done", l.Result.Text, name)

		l = transcript.ParseLine([]byte(`{"type":"assistant","message":{"id":"m","usage":{"output_tokens":4,"input_tokens":` + bad +
			`},"content":[{"type":"text","text":"hm"},{"type":"text","text":` + bad + `}]},"retry_delay_ms":` + bad + `}`))
		must.Equal(t, int64(4), l.Message.Usage.Output, name)
		must.Equal(t, "hm", l.Message.Blocks[0].Text, name)

		l = transcript.ParseLine([]byte(`{"type":"rate_limit_event","retry_delay_ms":` + bad + `,"rate_limit_info":{"status":"rejected","resetsAt":1767225600}}`))
		must.Equal(t, time.Unix(1767225600, 0).UTC(), l.RateLimit.End(), name)
	}
}

func TestParseLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		want transcript.Line
	}{
		"text": {
			`{"type":"assistant","session_id":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"hm"}]}}`,
			transcript.Line{Type: "assistant", Message: &transcript.Message{
				ID: "m", Role: "assistant", Blocks: []transcript.Block{{Type: "text", Text: "hm"}},
			}},
		},
		"use of a tool": {
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`,
			transcript.Line{Type: "assistant", Message: &transcript.Message{
				Blocks: []transcript.Block{{Type: "tool_use", ToolUseID: "t1", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}},
			}},
		},
		"result of a tool": {
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"no","is_error":true}]}}`,
			transcript.Line{Type: "user", Message: &transcript.Message{
				Role: "user", Blocks: []transcript.Block{{Type: "tool_result", ToolUseID: "t1", Output: json.RawMessage(`"no"`), IsError: true}},
			}},
		},
		"plain text": {
			`{"type":"user","message":{"content":"hello"}}`,
			transcript.Line{Type: "user", Message: &transcript.Message{Blocks: []transcript.Block{{Type: "text", Text: "hello"}}}},
		},
		"put off": {
			`{"type":"result","permission_denials":[{"tool_name":"Bash","tool_use_id":"t1"}],"deferred_tool_use":{"id":"t2","name":"Write","input":{}}}`,
			transcript.Line{Type: "result", Result: &transcript.Result{Denials: []transcript.Denial{{Tool: "Bash"}}}},
		},
		"from the future": {`{"type":"assistant","message":[1,2]}`, transcript.Line{Type: "assistant"}},
		"of bytes that are no UTF-8": {
			"{\"type\":\"user\",\"message\":{\"content\":\"raw \xf0\x9f\x98 bytes\"}}",
			transcript.Line{Type: "user", Message: &transcript.Message{Blocks: []transcript.Block{{Type: "text", Text: "raw \ufffd\ufffd\ufffd bytes"}}}},
		},
		"of half a character": {
			`{"type":"user","message":{"content":"half \ud83d\u2026"}}`,
			transcript.Line{Type: "user", Message: &transcript.Message{Blocks: []transcript.Block{{Type: "text", Text: "half \ufffd…"}}}},
		},
		"of halves and wholes in an input": {
			`{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"a":"\ud83d\ude00\ud83dx\\ud83d\udc00"}}]}}`,
			transcript.Line{Type: "assistant", Message: &transcript.Message{
				Blocks: []transcript.Block{{Type: "tool_use", Input: json.RawMessage(`{"a":"\ud83d\ude00` + "\ufffd" + `x\\ud83d` + "\ufffd" + `"}`)}},
			}},
		},
		"with escapes that JSON does not have": {
			`{"type":"user","message":{"content":"a \\x \" \xf0 b"}}`,
			transcript.Line{Type: "user", Message: &transcript.Message{Blocks: []transcript.Block{{Type: "text", Text: "a \\x \" \ufffdxf0 b"}}}},
		},
		"garbage": {`Segmentation fault`, transcript.Line{}},
	} {
		must.Equal(t, c.want, transcript.ParseLine([]byte(c.line)), name)
	}
}
