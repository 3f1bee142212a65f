package simulated

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"
)

// stream prints what the real CLI prints with --output-format stream-json: one JSON
// object per line. Write errors are ignored because the output is optional.
type stream struct {
	out          *json.Encoder
	conversation string
	// secret is removed from the output.
	secret string
	begun  time.Time
	prompt int // its length in bytes
	calls  int
	words  int // bytes written so far
}

func newStream(out io.Writer, conversation, secret string, prompt int) *stream {
	return &stream{out: json.NewEncoder(out), conversation: conversation, secret: secret, prompt: prompt, begun: time.Now()}
}

func (s *stream) line(kind string, fields map[string]any) {
	fields["type"], fields["session_id"] = kind, s.conversation
	_ = s.out.Encode(fields)
}

func (s *stream) init(dir string) {
	s.line("system", map[string]any{
		"subtype": "init", "cwd": dir, "model": "simulated", "permissionMode": "default", "tools": []string{"Bash", "Read", "Write"},
	})
}

func (s *stream) text(text string) {
	s.words += len(text)
	s.assistant(map[string]any{"type": "text", "text": text})
}

func (s *stream) tool(name string, input map[string]any) string {
	s.calls++
	id := fmt.Sprintf("toolu_simulated_%d", s.calls)
	shown := maps.Clone(input)
	for field, value := range input {
		if text, ok := value.(string); ok {
			s.words += len(text)
			shown[field] = s.without(text)
		}
	}
	s.assistant(map[string]any{"type": "tool_use", "id": id, "name": name, "input": shown})
	return id
}

func (s *stream) toolResult(id, output string, failed bool) {
	s.message("user", map[string]any{
		"type": "tool_result", "tool_use_id": id, "content": s.without(output), "is_error": failed,
	})
}

func (s *stream) assistant(block map[string]any) { s.message("assistant", block) }

func (s *stream) message(role string, block map[string]any) {
	s.line(role, map[string]any{"message": map[string]any{"role": role, "content": []any{block}}})
}

func (s *stream) without(text string) string {
	if s.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, s.secret, "[signature]")
}

// result prints the last line. Tokens are estimated at four bytes each.
func (s *stream) result(err error, structured any) {
	fields := map[string]any{
		"subtype": "success", "is_error": false, "result": "Done.", "stop_reason": "end_turn",
		"num_turns": s.calls + 1, "duration_ms": time.Since(s.begun).Milliseconds(), "total_cost_usd": 0,
		"usage":              map[string]int{"input_tokens": s.prompt / 4, "output_tokens": s.words / 4},
		"permission_denials": []any{},
	}
	if structured != nil {
		fields["structured_output"] = structured
	}
	if err != nil {
		fields["subtype"], fields["is_error"], fields["result"] = "error_during_execution", true, s.without(err.Error())
	}
	s.line("result", fields)
}
