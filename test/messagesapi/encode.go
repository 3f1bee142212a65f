package messagesapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
)

// object is a JSON object.
type object = map[string]any

// message returns a whole reply, in the API's format for clients that do not stream.
func (s *Server) message(r Reply) object {
	stop := "end_turn"
	if len(r.Tools) > 0 {
		stop = "tool_use"
	}
	return object{
		"id": s.id("msg"), "type": "message", "role": "assistant", "model": "claude-scripted",
		"content": s.blocks(r), "stop_reason": stop, "stop_sequence": nil, "usage": usageOf(r),
	}
}

func usageOf(r Reply) Usage { return cmp.Or(r.Usage, Usage{Input: 1000, Output: 50}) }

func (s *Server) blocks(r Reply) []object {
	blocks := []object{}
	if r.Thinking != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": r.Thinking, "signature": "c2lnbmVk"})
	}
	if r.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": r.Text})
	}
	for _, tool := range r.Tools {
		blocks = append(blocks, object{"type": "tool_use", "id": s.id("toolu"), "name": tool.Name, "input": tool.Input})
	}
	return blocks
}

func (s *Server) id(prefix string) string { return fmt.Sprintf("%s_%d", prefix, s.ids.Add(1)) }

// stream sends a reply as server-sent events.
func (s *Server) stream(w http.ResponseWriter, r Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	whole := s.message(r)
	opening := maps.Clone(whole)
	opening["content"], opening["stop_reason"] = []any{}, nil
	sendEvent(w, "message_start", object{"message": opening})
	s.serve(usageOf(r))
	if r.Pause != nil {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Pause:
		case <-s.closed:
		}
	}
	for i, block := range whole["content"].([]object) {
		streamBlock(w, i, block)
	}
	sendEvent(w, "message_delta", object{
		"delta": object{"stop_reason": whole["stop_reason"], "stop_sequence": nil},
		"usage": object{"output_tokens": usageOf(r).Output},
	})
	sendEvent(w, "message_stop", object{})
}

func streamBlock(w io.Writer, index int, block object) {
	opening := maps.Clone(block)
	var delta object
	switch block["type"] {
	case "thinking":
		opening["thinking"] = ""
		delta = object{"type": "thinking_delta", "thinking": block["thinking"]}
	case "text":
		opening["text"] = ""
		delta = object{"type": "text_delta", "text": block["text"]}
	default:
		input, _ := json.Marshal(block["input"])
		opening["input"] = object{}
		delta = object{"type": "input_json_delta", "partial_json": string(input)}
	}
	sendEvent(w, "content_block_start", object{"index": index, "content_block": opening})
	sendEvent(w, "content_block_delta", object{"index": index, "delta": delta})
	sendEvent(w, "content_block_stop", object{"index": index})
}

func sendEvent(w io.Writer, name string, data object) {
	data["type"] = name
	text, _ := json.Marshal(data)
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, text)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func writeError(w http.ResponseWriter, r Reply) {
	if !r.resetsAt.IsZero() {
		for name, value := range map[string]string{
			"status": "rejected", "reset": strconv.FormatInt(r.resetsAt.Unix(), 10), "representative-claim": "five_hour",
			"overage-status": "rejected", "overage-disabled-reason": "org_level_disabled",
		} {
			w.Header().Set("anthropic-ratelimit-unified-"+name, value)
		}
	}
	writeJSON(w, r.status, object{"type": "error", "error": object{"type": errorType(r.status), "message": r.Text}})
}

func errorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	if status >= http.StatusInternalServerError {
		return "api_error"
	}
	return "invalid_request_error"
}
