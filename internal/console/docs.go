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

// docsView is the data of the page about the API.
type docsView struct {
	Sections []docsSection
	Events   []docsMessage
}

type docsSection struct {
	docsTag
	Endpoints []docsEndpoint
}

type docsEndpoint struct {
	docsOperation
	Method, Path string
	Request      json.RawMessage
	Answers      []docsAnswer
}

// Brief returns the endpoint's purpose in a few words.
func (e docsEndpoint) Brief() string {
	end := strings.IndexAny(e.Summary+".", ".:;(")
	return strings.ReplaceAll(strings.TrimSpace(e.Summary[:min(end, len(e.Summary))]), "`", "")
}

type docsAnswer struct {
	Status, Description string
	Example             json.RawMessage
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
	view := docsView{Events: slices.SortedFunc(maps.Values(events.Value.Channels.Events.Messages), func(a, b docsMessage) int { return cmp.Compare(a.Title, b.Title) })}
	for _, tag := range api.Value.Tags {
		view.Sections = append(view.Sections, docsSection{tag, endpointsOf(api.Value, tag.Name)})
	}
	return v.render(http.StatusOK, "docs", page{Title: "API", Tab: "docs", Data: view})
}

// endpointsOf returns the endpoints of one section, sorted by path.
func endpointsOf(api openAPI, tag string) []docsEndpoint {
	var all []docsEndpoint
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(api.Paths[path])) {
			op := api.Paths[path][method]
			if !slices.Contains(op.Tags, tag) {
				continue
			}
			e := docsEndpoint{docsOperation: op, Method: strings.ToUpper(method), Path: path}
			if op.Body != nil {
				e.Request = op.Body.Content["application/json"].Example
			}
			for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
				e.Answers = append(e.Answers, answerOf(api, status, op.Responses[status]))
			}
			all = append(all, e)
		}
	}
	return all
}

func answerOf(api openAPI, status string, r docsResponse) docsAnswer {
	if name, refers := strings.CutPrefix(r.Ref, "#/components/responses/"); refers {
		r = api.Components.Responses[name]
	}
	return docsAnswer{status, r.Description, r.Content["application/json"].Example}
}

// openAPI is the server's contract for HTTP, as far as pages show it.
type openAPI struct {
	Tags  []docsTag                           `json:"tags"`
	Paths map[string]map[string]docsOperation `json:"paths"`
	// Components contains what operations refer to.
	Components struct {
		Responses map[string]docsResponse `json:"responses"`
	} `json:"components"`
}

// docsTag is a section of the contract.
type docsTag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// docsOperation describes an endpoint.
type docsOperation struct {
	Name       string                  `json:"operationId"`
	Tags       []string                `json:"tags"`
	Summary    string                  `json:"summary"`
	Parameters []docsParameter         `json:"parameters"`
	Body       *docsResponse           `json:"requestBody"`
	Responses  map[string]docsResponse `json:"responses"`
}

// docsParameter is a parameter of an endpoint.
type docsParameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
}

// docsResponse is a response, or a request's body. If set, Ref refers to one of the components
// instead.
type docsResponse struct {
	Ref         string               `json:"$ref"`
	Description string               `json:"description"`
	Content     map[string]docsMedia `json:"content"`
}

// docsMedia is the content for one media type.
type docsMedia struct {
	Example json.RawMessage `json:"example"`
}

// asyncAPI is the server's contract for WebSockets, as far as pages show it.
type asyncAPI struct {
	Channels struct {
		Events struct {
			Messages map[string]docsMessage `json:"messages"`
		} `json:"events"`
	} `json:"channels"`
}

// docsMessage is a message on the WebSocket.
type docsMessage struct {
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	Examples []struct {
		Payload json.RawMessage `json:"payload"`
	} `json:"examples"`
}
