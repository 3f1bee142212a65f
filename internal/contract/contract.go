package contract

import (
	"bytes"
	"encoding/json"

	"ringback/internal/lifecycle"
)

// Version is that of the contract: the first number rises with what breaks a client.
const Version = "1.0.0"

// Contract is all that a server promises to its callers.
type Contract struct {
	Routes []Route
	// Events are what happens to jobs, as a WebSocket tells it.
	Events []lifecycle.EventRow
	// Frames are what else goes over a WebSocket.
	Frames []Frame
	// Closes are the codes by which the server closes one.
	Closes []Close
	// Kinds are what jobs may be of.
	Kinds []Kind
}

// Kind is a kind of job as callers see it.
type Kind struct {
	Name, Description string
	// Events is the prefix of its events.
	Events string
	// Input and Result are JSON Schemas.
	Input, Result json.RawMessage
	Actions       []Action
}

// Action is one that the jobs of a kind may call.
type Action struct {
	Name  string
	Input json.RawMessage
}

// Frame is one that goes over a WebSocket beside events.
type Frame struct {
	// Name is its type on the wire.
	Name string
	// Prefixed is true if the prefix of the job's kind and a colon precede the name.
	Prefixed bool
	// ByClient is whether a client sends it, and not the server.
	ByClient bool
	Text     string
	// Type is a value of the struct that it is.
	Type any
}

// Close is why the server closes a WebSocket.
type Close struct {
	Code int
	// When says what has happened, and Then what the client had better do.
	When, Then string
}

// object is a JSON object of a document.
type object = map[string]any

// written is a document as it is served.
func written(document any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	return out.Bytes(), err
}
