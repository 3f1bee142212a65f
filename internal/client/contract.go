package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// OpenAPI is the server's contract for HTTP, as far as pages show it.
type OpenAPI struct {
	Tags  []Tag                           `json:"tags"`
	Paths map[string]map[string]Operation `json:"paths"`
	// Components holds what operations refer to.
	Components struct {
		Responses map[string]Response `json:"responses"`
	} `json:"components"`
}

// Tag is a section of it.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Operation is what an endpoint does.
type Operation struct {
	Name       string              `json:"operationId"`
	Tags       []string            `json:"tags"`
	Summary    string              `json:"summary"`
	Parameters []Parameter         `json:"parameters"`
	Body       *Response           `json:"requestBody"`
	Responses  map[string]Response `json:"responses"`
}

// Parameter is one that it takes.
type Parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
}

// Response is an answer, or a request's body. Ref leads to one of the components instead.
type Response struct {
	Ref         string           `json:"$ref"`
	Description string           `json:"description"`
	Content     map[string]Media `json:"content"`
}

// Media is what of one media type is sent.
type Media struct {
	Example json.RawMessage `json:"example"`
}

// AsyncAPI is the server's contract for WebSockets, as far as pages show it.
type AsyncAPI struct {
	Channels struct {
		Events struct {
			Messages map[string]Message `json:"messages"`
		} `json:"events"`
	} `json:"channels"`
}

// Message is one that goes over it.
type Message struct {
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	Examples []struct {
		Payload json.RawMessage `json:"payload"`
	} `json:"examples"`
}

// OpenAPI returns the contract for HTTP.
func (c *Client) OpenAPI(ctx context.Context) (Answer[OpenAPI], error) {
	return call[OpenAPI](ctx, c, http.MethodGet, "/openapi.json", nil)
}

// AsyncAPI returns the contract for WebSockets.
func (c *Client) AsyncAPI(ctx context.Context) (Answer[AsyncAPI], error) {
	return call[AsyncAPI](ctx, c, http.MethodGet, "/asyncapi.json", nil)
}
