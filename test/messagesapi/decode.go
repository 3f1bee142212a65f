package messagesapi

import (
	"encoding/json"
	"strings"
)

// body is the body of POST /v1/messages, as far as it matters here.
type body struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name         string          `json:"name"`
		InputSchema  json.RawMessage `json:"input_schema"`
		DeferLoading bool            `json:"defer_loading"`
	} `json:"tools"`
	Metadata struct {
		// UserID is JSON text that the CLI makes.
		UserID string `json:"user_id"`
	} `json:"metadata"`
}

func (b body) request() Request {
	r := Request{Conversation: b.conversation(), Model: b.Model, System: textOf(partsOf(b.System)), Schemas: map[string]json.RawMessage{}}
	for _, tool := range b.Tools {
		r.Tools = append(r.Tools, tool.Name)
		r.Schemas[tool.Name] = tool.InputSchema
		if tool.DeferLoading {
			r.Deferred = append(r.Deferred, tool.Name)
		}
	}
	for _, m := range b.Messages {
		r.Messages = append(r.Messages, Message{Role: m.Role, Parts: partsOf(m.Content)})
	}
	return r
}

func (b body) conversation() string {
	var user struct {
		SessionID string `json:"session_id"`
	}
	_ = json.Unmarshal([]byte(b.Metadata.UserID), &user) // other clients send other text
	return user.SessionID
}

// partsOf reads content, which is a text or a list of parts.
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
	parts := make([]Part, len(wire))
	for i, p := range wire {
		parts[i] = Part{
			Type: p.Type, Text: p.Text, Name: p.Name, Input: p.Input,
			Content: textOf(partsOf(p.Content)), IsError: p.IsError,
		}
	}
	return parts
}

func textOf(parts []Part) string {
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	return all.String()
}
