package console

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ringback/client"
)

type docsView struct {
	openAPI
	Events []docsMessage
}

// docs shows the contracts of the server, with the kinds that the visitor may see.
func (c *Console) docs(v *visit) error {
	api, err := client.Call[openAPI](v.Request().Context(), v.api(), http.MethodGet, "/openapi.json", nil)
	if err != nil {
		return err
	}
	events, err := client.Call[asyncAPI](v.Request().Context(), v.api(), http.MethodGet, "/asyncapi.json", nil)
	if err != nil {
		return err
	}
	byTitle := func(a, b docsMessage) int { return cmp.Compare(a.Title, b.Title) }
	view := docsView{api.Value, slices.SortedFunc(maps.Values(events.Value.Channels.Events.Messages), byTitle)}
	return v.render(http.StatusOK, "docs", page{Title: "API", Tab: "docs", Data: view})
}

// openAPI is the server's contract for HTTP, as far as pages show it.
type openAPI struct {
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	// Paths are the endpoints by path and method.
	Paths map[string]map[string]docsOperation `json:"paths"`
	// Components contains what operations refer to.
	Components struct {
		Responses map[string]docsContent `json:"responses"`
	} `json:"components"`
}

// Answer returns a response that may refer to one of the components.
func (a openAPI) Answer(r docsContent) docsContent {
	if name, refers := strings.CutPrefix(r.Ref, "#/components/responses/"); refers {
		return a.Components.Responses[name]
	}
	return r
}

type docsOperation struct {
	Name       string   `json:"operationId"`
	Tags       []string `json:"tags"`
	Summary    string   `json:"summary"`
	Parameters []struct {
		Name        string `json:"name"`
		In          string `json:"in"`
		Description string `json:"description"`
	} `json:"parameters"`
	Body      docsContent            `json:"requestBody"`
	Responses map[string]docsContent `json:"responses"`
}

// Has reports whether the endpoint is in the section of a tag.
func (o docsOperation) Has(tag string) bool { return slices.Contains(o.Tags, tag) }

// Brief returns the endpoint's purpose in a few words.
func (o docsOperation) Brief() string {
	end := strings.IndexAny(o.Summary+".", ".:;(")
	return strings.ReplaceAll(strings.TrimSpace(o.Summary[:min(end, len(o.Summary))]), "`", "")
}

type docsContent struct {
	// Ref refers to one of the components instead, if it is set.
	Ref         string `json:"$ref"`
	Description string `json:"description"`
	Content     map[string]struct {
		Example json.RawMessage `json:"example"`
	} `json:"content"`
}

// Example returns the example of JSON; nil if there is none.
func (c docsContent) Example() json.RawMessage { return c.Content["application/json"].Example }

// asyncAPI is the server's contract for WebSockets, as far as pages show it.
type asyncAPI struct {
	Channels struct {
		Events struct {
			Messages map[string]docsMessage `json:"messages"`
		} `json:"events"`
	} `json:"channels"`
}

type docsMessage struct {
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	Examples []struct {
		Payload json.RawMessage `json:"payload"`
	} `json:"examples"`
}
