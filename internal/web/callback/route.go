package callback

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/web/contract"
)

// endpoint is one of the callbacks.
type endpoint struct {
	contract.Route
	handle func(*Handler, *call) (json.RawMessage, error)
	// unknown is the message about an unknown request.
	unknown string
	// unsigned is set if the signature is optional, unless callbacks are strict; a given
	// signature is checked.
	unsigned bool
	// cached is set if stale data from the cache is sufficient: the endpoint is called so
	// often that a read matters, and what it writes is refused if the signature is no longer valid.
	cached bool
	// withMessages is true if the answer may contain new messages from people.
	withMessages bool
}

// Routes describes the callbacks.
func Routes() []contract.Route {
	all := make([]contract.Route, len(endpoints))
	for i, ep := range endpoints {
		all[i] = ep.Route
	}
	return append(all, mcpEndpoint.Route)
}

// Paths returns the paths of the callbacks.
func Paths() []string {
	var all []string
	for _, r := range Routes() {
		all = append(all, r.Path)
	}
	return all
}

// Register adds the callback routes, with the short paths as aliases.
func (h *Handler) Register(e *echo.Echo) {
	for _, ep := range endpoints {
		ep.unknown, ep.unsigned = cmp.Or(ep.unknown, unknownOrExpired), ep.unsigned && !h.opts.Strict
		e.Add(ep.Method, ep.Path, h.serve(ep))
	}
	e.Add(mcpEndpoint.Method, mcpEndpoint.Path, h.serveMCP)
}

// described returns the route of a callback.
func described(path, name, summary string, body contract.Body, answers ...any) contract.Route {
	answer := contract.Answer{Status: http.StatusOK, Text: "The callback was stored.", OneOf: answers}
	if len(answers) == 1 {
		answer.Type, answer.OneOf = answers[0], nil
	}
	return contract.Route{
		Method: http.MethodPost, Path: path, Name: name, Tag: contract.Callbacks, Access: contract.Claude, Summary: summary,
		Body:    &body,
		Answers: []contract.Answer{answer},
	}
}

var aResult = contract.Body{Open: true}

func payload(schema string) contract.Body { return contract.Body{Schema: json.RawMessage(schema)} }

func progressAt(path, name, summary string) endpoint {
	body := payload(progressSchema)
	body.Unsigned = true
	return endpoint{
		Route: described(path, name, summary, body, reported{}), handle: (*Handler).progress,
		unknown: "Unknown request", unsigned: true, cached: true, withMessages: true,
	}
}

func suggestionsAt(path, name, summary string) endpoint {
	route := described(path, name, summary, aResult, receivedResult{})
	return endpoint{Route: route, handle: (*Handler).suggestions, cached: true}
}

var endpoints = []endpoint{
	progressAt(
		"/api/claude/progress", "reportProgress",
		"reports progress. Also available as `POST /progress`; `hmac` is optional if `CALLBACK_STRICT` is false",
	),
	progressAt("/progress", "reportProgressShort", "reports progress, like `POST /api/claude/progress`"),
	suggestionsAt("/api/claude/suggestions", "submitSuggestions", "submits the result. Also available as `POST /suggestions`"),
	suggestionsAt("/suggestions", "submitSuggestionsShort", "submits the result, like `POST /api/claude/suggestions`"),
	{
		cached: true, handle: (*Handler).result,
		Route: described("/api/claude/result", "submitResult", "submits the result of a job of any kind", aResult, success{}),
	},
	{
		withMessages: true, handle: (*Handler).batch,
		Route: described(
			"/api/claude/suggestions/batch", "submitBatch", "submits a part of a large result", payload(batchSchema), receivedBatch{},
		),
	},
	{
		handle: (*Handler).failure,
		Route: described(
			"/api/claude/failure", "reportFailure", "reports that Claude cannot do the job, and why", payload(failureSchema), success{},
		),
	},
	{
		withMessages: true, handle: (*Handler).checkpoint,
		Route: described(
			"/api/claude/checkpoints", "ask", "asks a person a question", payload(checkpointSchema), answeredCheckpoint{},
			parkedCheckpoint{},
		),
	},
	{
		withMessages: true, handle: (*Handler).action,
		Route: described(
			"/api/claude/actions/:name", "callAction", "calls an action of the kind", payload(actionSchema),
			map[string]any{},
		),
	},
	{handle: (*Handler).hook, Route: described(
		"/api/claude/tool-calls", "askForTool",
		"answers the CLI's hooks. They are called before a tool call, after the tools of a step, and when Claude ends its turn",
		contract.Body{Type: toolCallBody{}, Open: true}, hookAnswer{})},
}
