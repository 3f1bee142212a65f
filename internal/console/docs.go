package console

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ringback/internal/client"
)

// docsView is the API as a page shows it.
type docsView struct {
	Sections []docsSection
	Events   []client.Message
}

type docsSection struct {
	client.Tag
	Endpoints []docsEndpoint
}

type docsEndpoint struct {
	client.Operation
	Method, Path string
	Request      json.RawMessage
	Answers      []docsAnswer
}

// Brief is what it does, in a few words.
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
	api, err := v.api().OpenAPI(v.Request().Context())
	if err != nil {
		return err
	}
	events, err := v.api().AsyncAPI(v.Request().Context())
	if err != nil {
		return err
	}
	view := docsView{Events: slices.SortedFunc(maps.Values(events.Value.Channels.Events.Messages), func(a, b client.Message) int { return cmp.Compare(a.Title, b.Title) })}
	for _, tag := range api.Value.Tags {
		view.Sections = append(view.Sections, docsSection{tag, endpointsOf(api.Value, tag.Name)})
	}
	return v.render(http.StatusOK, "docs", page{Title: "API", Tab: "docs", Data: view})
}

// endpointsOf are those of one section, by their paths.
func endpointsOf(api client.OpenAPI, tag string) []docsEndpoint {
	var all []docsEndpoint
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(api.Paths[path])) {
			op := api.Paths[path][method]
			if !slices.Contains(op.Tags, tag) {
				continue
			}
			e := docsEndpoint{Operation: op, Method: strings.ToUpper(method), Path: path}
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

func answerOf(api client.OpenAPI, status string, r client.Response) docsAnswer {
	if name, refers := strings.CutPrefix(r.Ref, "#/components/responses/"); refers {
		r = api.Components.Responses[name]
	}
	return docsAnswer{status, r.Description, r.Content["application/json"].Example}
}
