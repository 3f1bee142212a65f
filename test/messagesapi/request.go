package messagesapi

import (
	"encoding/json"
	"strings"
)

// Request is the CLI's request to the model.
type Request struct {
	// Turn counts the requests of this server, from 1.
	Turn int
	// Conversation is the CLI's session: the UUID of --session-id or --resume.
	Conversation string
	// Model is the requested model.
	Model string
	// System is the system prompt.
	System string
	// Tools are the names of the offered tools, and Schemas the JSON Schemas of their
	// inputs.
	Tools   []string
	Schemas map[string]json.RawMessage
	// Deferred are the tools of which the model sees only the names until it asks for more.
	Deferred []string
	// Size is the size of the request in bytes.
	Size int
	// Messages are the conversation so far.
	Messages []Message
}

// Message is one message of the conversation.
type Message struct {
	Role  string // user, assistant or system
	Parts []Part
}

// Part is a part of a message: text, a tool's use or its result.
type Part struct {
	Type    string          // text, tool_use, tool_result, …
	Text    string          // of a text
	Name    string          // of a tool
	Input   json.RawMessage // of a tool's use
	Content string          // of a tool's result
	IsError bool            // of a tool's result: it failed or was refused
}

// Text returns all text of the user's messages, a line break after each part.
func (r Request) Text() string {
	var all strings.Builder
	for _, p := range r.parts("user", "text") {
		all.WriteString(p.Text + "\n")
	}
	return all.String()
}

// Results returns the results of the tools used so far, in order.
func (r Request) Results() []Part { return r.parts("user", "tool_result") }

// LastResult returns the latest result of a tool; the zero Part if there is none.
func (r Request) LastResult() Part {
	results := r.Results()
	if len(results) == 0 {
		return Part{}
	}
	return results[len(results)-1]
}

func (r Request) parts(role, kind string) []Part {
	var found []Part
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if m.Role == role && p.Type == kind {
				found = append(found, p)
			}
		}
	}
	return found
}
