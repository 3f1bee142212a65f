package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Kind is a kind of job.
type Kind struct {
	Name string `json:"name"`
	// Version is the version of its current prompt and schemas: hex SHA-256.
	Version     string `json:"version"`
	Description string `json:"description"`
	// Events is the prefix of its events' names.
	Events string `json:"events"`
	// InputSchema and ResultSchema are JSON Schemas. Kinds omits them.
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	ResultSchema json.RawMessage `json:"resultSchema,omitempty"`
	// Actions are things that the server can do for Claude. Kinds omits them.
	Actions []Action `json:"actions,omitempty"`
}

// Action is something that the server can do for Claude.
type Action struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	// Confirm determines when a person must approve it: "always", "never", or a condition.
	Confirm     string          `json:"confirm"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Kinds is a list of a server's kinds.
type Kinds struct {
	Kinds []Kind `json:"kinds"`
}

// Kinds returns the kinds, without their schemas.
func (c *Client) Kinds(ctx context.Context) (Answer[Kinds], error) {
	return Call[Kinds](ctx, c, http.MethodGet, "/api/kinds", nil)
}

// KindsReload names the kinds that differ after a server has loaded its files again.
type KindsReload struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
	// Warnings are actions of these kinds that cannot run on the node, and why.
	Warnings []string `json:"warnings,omitempty"`
}

// ReloadKinds has the node that answers load the files of its kinds again. If one of them has a
// problem, the node keeps all kinds as they were and returns a conflict that lists the problems.
func (c *Client) ReloadKinds(ctx context.Context) (Answer[KindsReload], error) {
	return Call[KindsReload](ctx, c, http.MethodPost, "/api/kinds/reload", struct{}{})
}

// Kind returns a kind with its schemas.
func (c *Client) Kind(ctx context.Context, name string) (Answer[Kind], error) {
	return Call[Kind](ctx, c, http.MethodGet, "/api/kinds/"+url.PathEscape(name), nil)
}
