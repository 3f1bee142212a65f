package contract

import (
	"bytes"
	"encoding/json"

	"ringback/internal/lifecycle"
)

// Version is the version of the contract: its major number rises with breaking changes.
const Version = "1.0.0"

// Contract is everything a server guarantees to its callers.
type Contract struct {
	Routes []Route
	Events []lifecycle.EventRow
	// Frames are the other frames of a WebSocket.
	Frames []Frame
	// Closes are the codes with which the server closes a WebSocket.
	Closes []Close
	Kinds  []Kind
}

// Kind is a kind of job as callers see it.
type Kind struct {
	Name, Description string
	// Events is the prefix of the names of its events.
	Events        string
	Input, Result json.RawMessage
	Actions       []Action
}

// Action is an action that the jobs of a kind may call.
type Action struct {
	Name  string
	Input json.RawMessage
}

// Frame is a frame of a WebSocket that is not an event.
type Frame struct {
	// Name is its type in the protocol.
	Name string
	// Prefixed is true if the prefix of the job's kind and a colon precede the name.
	Prefixed bool
	// ByClient is true if the client sends it, not the server.
	ByClient bool
	Text     string
	// Type is a value of the frame's struct.
	Type any
}

// Close is a code with which the server closes a WebSocket.
type Close struct {
	Code int
	// When describes the cause, and Then what the client should do.
	When, Then string
}

type object = map[string]any

func written(document any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	return out.Bytes(), err
}
