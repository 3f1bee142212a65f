package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Kind is a sort of job.
type Kind struct {
	Name string `json:"name"`
	// Version is that of its prompt and schemas now: hex SHA-256.
	Version     string `json:"version"`
	Description string `json:"description"`
	// Events is what the names of its events begin with.
	Events string `json:"events"`
	// InputSchema and ResultSchema are JSON Schemas; Kinds leaves them out.
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	ResultSchema json.RawMessage `json:"resultSchema,omitempty"`
	// Actions are what the server does for Claude; Kinds leaves them out.
	Actions []Action `json:"actions,omitempty"`
}

// Action is something that the server does for Claude.
type Action struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	// Confirm says when a person must allow it: always, never, or a condition.
	Confirm     string          `json:"confirm"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Kinds are the kinds that a server knows.
type Kinds struct {
	Kinds []Kind `json:"kinds"`
}

// Kinds lists the kinds, without their schemas.
func (c *Client) Kinds(ctx context.Context) (Answer[Kinds], error) {
	return Call[Kinds](ctx, c, http.MethodGet, "/api/kinds", nil)
}

// Kind returns a kind with its schemas.
func (c *Client) Kind(ctx context.Context, name string) (Answer[Kind], error) {
	return Call[Kind](ctx, c, http.MethodGet, "/api/kinds/"+url.PathEscape(name), nil)
}
