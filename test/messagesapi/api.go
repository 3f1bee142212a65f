// Package messagesapi is a Messages API on loopback that answers from a script,
// so that tests drive the real Claude CLI without any model.
package messagesapi

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Script answers each request of the CLI's conversation. It is called for one
// request at a time.
type Script func(Request) Reply

// Request is what the CLI asks the model.
type Request struct {
	// Turn counts the requests of this server, from 1.
	Turn int
	// Messages are the conversation so far.
	Messages []Message
}

// Message is one message of the conversation.
type Message struct {
	Role  string
	Parts []Part
}

// Part is a part of a message: text, a tool's use or its result.
type Part struct {
	Type    string
	Text    string          // of a text
	Name    string          // of a tool
	Input   json.RawMessage // of a tool's use
	Content string          // of a tool's result
	IsError bool            // of a tool's result
}

// Text returns all text of the user's messages.
func (r Request) Text() string {
	var all strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if m.Role == "user" && p.Type == "text" {
				all.WriteString(p.Text + "\n")
			}
		}
	}
	return all.String()
}

// Results returns the results of the tools used so far, in order.
func (r Request) Results() []Part {
	var results []Part
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Type == "tool_result" {
				results = append(results, p)
			}
		}
	}
	return results
}

// Reply is what the model says: text and uses of tools.
type Reply struct {
	Text  string
	Tools []Tool
}

// Tool is the use of a tool.
type Tool struct {
	Name  string
	Input map[string]any
}

// Say is a reply of text only, which ends the CLI's turn.
func Say(text string) Reply { return Reply{Text: text} }

// Use is a reply that uses one tool.
func Use(name string, input map[string]any) Reply { return Reply{Tools: []Tool{{name, input}}} }

// Bash is a reply that runs a command.
func Bash(command string) Reply {
	return Use("Bash", map[string]any{"command": command, "description": "run a command"})
}

// Server is a scripted Messages API.
type Server struct {
	URL string
	ids atomic.Int64

	mu       sync.Mutex
	script   Script
	requests []Request
}

// Start runs a server until the test ends.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	s := &Server{script: script}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	return s
}

// Requests returns what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Env is the environment in which the CLI asks this server, and nobody else.
func (s *Server) Env(t testing.TB) []string {
	t.Helper()
	home := t.TempDir()
	return []string{
		"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"), "PATH=" + os.Getenv("PATH"),
		"ANTHROPIC_BASE_URL=" + s.URL, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
}

// FindCLI returns the real Claude CLI. Without one the test is skipped, but in
// CI it fails.
func FindCLI(t testing.TB) string {
	t.Helper()
	if bin := os.Getenv("CLAUDE_TEST_BIN"); bin != "" {
		return bin
	}
	dir, err := os.Getwd()
	for err == nil && dir != "/" {
		bin := filepath.Join(dir, ".tools", "node_modules", ".bin", "claude")
		if _, statErr := os.Stat(bin); statErr == nil {
			return bin
		}
		dir = filepath.Dir(dir)
	}
	if os.Getenv("CI") != "" {
		t.Fatal("the Claude CLI is not installed: run make deps")
	}
	t.Skip("the Claude CLI is not installed: run make deps")
	return ""
}

// wireRequest is the body of POST /v1/messages, as far as it matters here.
type wireRequest struct {
	Stream   bool `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var in wireRequest
	_ = json.Unmarshal(body, &in) // other endpoints have other bodies
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		writeJSON(w, map[string]int{"input_tokens": 100})
	case strings.HasSuffix(r.URL.Path, "/messages") && len(in.Tools) == 0:
		s.answer(w, in.Stream, Say("ok")) // titles and the like
	case strings.HasSuffix(r.URL.Path, "/messages"):
		s.answer(w, in.Stream, s.ask(in))
	default:
		writeJSON(w, map[string]any{})
	}
}

func (s *Server) ask(in wireRequest) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	req := Request{Turn: len(s.requests) + 1}
	for _, m := range in.Messages {
		req.Messages = append(req.Messages, Message{Role: m.Role, Parts: partsOf(m.Content)})
	}
	s.requests = append(s.requests, req)
	return s.script(req)
}

func partsOf(content json.RawMessage) []Part {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []Part{{Type: "text", Text: text}}
	}
	var wire []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
	}
	if json.Unmarshal(content, &wire) != nil {
		return nil
	}
	var parts []Part
	for _, p := range wire {
		part := Part{Type: p.Type, Text: p.Text, Name: p.Name, Input: p.Input, IsError: p.IsError}
		for _, inner := range partsOf(p.Content) {
			part.Content += inner.Text
		}
		parts = append(parts, part)
	}
	return parts
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// answer writes a reply as a whole or as server-sent events.
func (s *Server) answer(w http.ResponseWriter, stream bool, r Reply) {
	var blocks []map[string]any
	if r.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": r.Text})
	}
	stop := "end_turn"
	for _, tool := range r.Tools {
		stop = "tool_use"
		id := fmt.Sprintf("toolu_%d", s.ids.Add(1))
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": id, "name": tool.Name, "input": tool.Input})
	}
	usage := map[string]int{"input_tokens": 1000, "output_tokens": 50}
	message := map[string]any{
		"id": fmt.Sprintf("msg_%d", s.ids.Add(1)), "type": "message", "role": "assistant", "model": "claude-scripted",
		"content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
	if !stream {
		writeJSON(w, message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	message["content"], message["stop_reason"] = []any{}, nil
	event(w, "message_start", map[string]any{"message": message})
	for i, block := range blocks {
		streamBlock(w, i, block)
	}
	event(w, "message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 50},
	})
	event(w, "message_stop", map[string]any{})
}

func streamBlock(w io.Writer, index int, block map[string]any) {
	start := maps.Clone(block)
	var delta map[string]any
	if block["type"] == "text" {
		start["text"] = ""
		delta = map[string]any{"type": "text_delta", "text": block["text"]}
	} else {
		input, _ := json.Marshal(block["input"])
		start["input"] = map[string]any{}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	}
	event(w, "content_block_start", map[string]any{"index": index, "content_block": start})
	event(w, "content_block_delta", map[string]any{"index": index, "delta": delta})
	event(w, "content_block_stop", map[string]any{"index": index})
}

func event(w io.Writer, name string, data map[string]any) {
	data["type"] = name
	text, _ := json.Marshal(data)
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, text)
}
