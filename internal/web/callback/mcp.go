package callback

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/rules/kind"
	"ringback/internal/turn/claude"
	"ringback/internal/web/contract"
	"ringback/internal/web/httpjson"
)

// Over MCP, Claude calls back with tools: each is one of the endpoints, with the same
// input and answer. Each request of the CLI is independent of earlier ones, so a
// restarted server can serve it.

// mcpEndpoint serves all requests over MCP.
var mcpEndpoint = endpoint{unknown: unknownOrExpired, Route: contract.Route{
	Method: http.MethodPost, Path: claude.MCPPath, Name: "mcp", Tag: contract.Callbacks, Access: contract.Claude,
	Summary: "serves the callbacks as tools of an MCP server (streamable HTTP). For kinds with `callback: mcp`; the job's id and the signature are in headers",
	Body:    &contract.Body{Open: true},
	Answers: []contract.Answer{
		{Status: http.StatusOK, Text: "The JSON-RPC response; for a tool, it contains the callback's response."},
		{Status: http.StatusAccepted, Text: "The notification was received."},
	},
}}

// serverKey is the context key of a request's MCP server.
type serverKey struct{}

// streamable implements the protocol. guard.Hosts, which knows CALLBACK_BASE_URL,
// checks the host names that this machine answers to.
var streamable = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
	server, _ := r.Context().Value(serverKey{}).(*sdk.Server)
	return server
}, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})

// serveMCP serves one request of the CLI's MCP client. Unauthorized callers are refused
// as by the other callbacks; Claude gets a mistake in a tool call as the call's result.
func (h *Handler) serveMCP(c echo.Context) error {
	begin, r := time.Now(), c.Request()
	in, tools, body, err := h.openMCP(c)
	if err != nil {
		httpjson.LogsItself(c)
		c.Error(err)
		h.report(r.Context(), ended{mcpEndpoint.Path, c.Response().Status, err, time.Since(begin)}, in)
		return err
	}
	m := &mcpRequest{Handler: h, in: in, tools: tools, http: r}
	r = r.WithContext(context.WithValue(r.Context(), serverKey{}, m.server()))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer := httptest.NewRecorder()
	streamable.ServeHTTP(answer, r)
	if r.Context().Err() != nil {
		return r.Context().Err()
	}
	return in.sendMCP(c, answer)
}

// openMCP reads a request up to its signature, which is in its headers.
func (h *Handler) openMCP(c echo.Context) (*call, []tool, []byte, error) {
	r := c.Request()
	if r.Header.Get(echo.HeaderOrigin) != "" { // no browser has a signature
		return nil, nil, nil, job.Errorf(job.Forbidden, "Web pages cannot call this").WithHint(
			"It is for the Claude CLI, which sends no Origin.",
		)
	}
	body, err := httpjson.ReadBody(c.Response(), r, h.opts.BodyLimit)
	if err != nil {
		return nil, nil, nil, forClaude(err)
	}
	in := newCall(c, mcpEndpoint, map[string]any{}, string(body))
	if err := h.admit(in, mcpEndpoint); err != nil {
		return in, nil, nil, err
	}
	tools, err := h.toolsFor(in)
	return in, tools, body, err
}

func (h *Handler) toolsFor(in *call) ([]tool, error) {
	if tools, ok := h.tools.Get(in.header.KindVersion); ok {
		return tools, nil
	}
	k, err := h.kindOf(in)
	if err != nil {
		return nil, err
	}
	if !k.OverMCP() {
		return nil, job.Errorf(job.NotFound, "Jobs of kind %q do not call back over MCP", k.Name).WithHint(
			"Call back as described in the prompt.",
		)
	}
	tools := toolsOf(k)
	h.tools.Add(k.Version, tools)
	return tools, nil
}

// mcpRequest is one HTTP request. It contains one tool call or, in older versions of
// the protocol, several.
type mcpRequest struct {
	*Handler
	in    *call
	tools []tool
	http  *http.Request
	calls atomic.Int32
}

// server returns an MCP server with the tools of the request's kind. It does not
// announce changes to its list of tools, so that no CLI keeps a connection open for
// them.
func (m *mcpRequest) server() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: claude.MCPServer, Version: "1"}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, t := range m.tools {
		s.AddTool(&t.Tool, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return m.call(t, req.Params.Arguments), nil
		})
	}
	return s
}

func (m *mcpRequest) call(t tool, arguments json.RawMessage) *sdk.CallToolResult {
	begin := time.Now()
	in := *m.in
	in.name = t.action
	answer, err := m.run(&in, t, arguments)
	status := http.StatusOK
	if err != nil {
		e := httpjson.Explain(m.log, err, m.http)
		status, answer = job.HTTPStatus(e.Kind), job.MustJSON(e)
	}
	m.report(in.ctx, ended{t.endpoint.Path, status, err, time.Since(begin)}, &in)
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(answer)}}, IsError: err != nil}
}

// run passes a call to a callback's handler. The SDK calls it on its own goroutine, on
// which a panic would end the server.
func (m *mcpRequest) run(in *call, t tool, arguments json.RawMessage) (answer json.RawMessage, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("tool %s panicked: %v", t.Name, fault)
		}
	}()
	if m.calls.Add(1) > 1 && !m.in.limiter.Allow() { // the first one was counted with its request
		return nil, tooFast()
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if in.payload, err = strictjson.Decode(arguments); err != nil {
		return nil, err
	}
	in.text = string(arguments)
	return m.answer(in, t.endpoint)
}

// sendMCP sends the SDK's response to a request. A plain-text refusal by the SDK is converted to the usual error
// format.
func (in *call) sendMCP(c echo.Context, answer *httptest.ResponseRecorder) error {
	body := answer.Body.Bytes()
	isJSON := strings.HasPrefix(answer.Header().Get(echo.HeaderContentType), echo.MIMEApplicationJSON)
	switch {
	case len(body) == 0:
		return c.NoContent(answer.Code)
	case answer.Code >= http.StatusBadRequest && !isJSON:
		return job.Errorf(job.Invalid, "This is not an MCP request").WithHint("%s", strings.TrimSpace(string(body)))
	case answer.Code != http.StatusOK:
		return httpjson.WriteText(c, answer.Code, body)
	}
	return in.send(c, body)
}

type tool struct {
	sdk.Tool
	endpoint endpoint
	// action is the action that is called; empty for other callbacks.
	action string
}

// toolsOf returns the tools of a kind: one for each of kind.CallbackTools. The prompt
// explains how they work together.
func toolsOf(k *kind.Kind) []tool {
	result := "/api/claude/result"
	if k.Batchable() {
		result = "/api/claude/suggestions"
	}
	tools := []tool{
		newTool(
			kind.ReportProgress, "Reports in one short sentence what you are doing.", "/api/claude/progress",
			json.RawMessage(progressSchema),
		),
		newTool(
			kind.SubmitResult, "Submits the whole result of your task. Once it is accepted, the task is complete.", result,
			asObject(k.Result.ForClaude()),
		),
		newTool(
			kind.ReportFailure, "Reports that you cannot do your task, and why. Nothing can be submitted after it.",
			"/api/claude/failure", json.RawMessage(failureSchema),
		),
		newTool(
			kind.AskUser, "Asks the user, and waits a while for the answer.", "/api/claude/checkpoints",
			json.RawMessage(checkpointSchema),
		),
	}
	if k.Batchable() {
		tools = append(tools, newTool(
			kind.SubmitBatch, "Submits a part of a large result. The suggestions are those of "+kind.SubmitResult+".",
			"/api/claude/suggestions/batch", json.RawMessage(batchSchema)))
	}
	for _, a := range k.Policy.Actions {
		t := newTool(a.Name, a.Description, "/api/claude/actions/:name", actionArguments(a.Schema().ForClaude()))
		t.action = a.Name
		tools = append(tools, t)
	}
	return tools
}

func newTool(name, description, path string, input any) tool {
	at := slices.IndexFunc(endpoints, func(ep endpoint) bool { return ep.Path == path })
	return tool{Tool: sdk.Tool{Name: name, Description: description, InputSchema: input}, endpoint: endpoints[at]}
}

// asObject returns a schema with the type "object", which a tool's schema requires.
func asObject(schema json.RawMessage) map[string]json.RawMessage {
	top := maps.Collect(job.Members(schema))
	top["type"] = json.RawMessage(`"object"`)
	return top
}

// actionArguments returns the schema of an action's arguments, which contains that of its
// input.
func actionArguments(input json.RawMessage) map[string]json.RawMessage {
	arguments := asObject(json.RawMessage(actionSchema))
	// The input's references lead to its new position. One to an anchor holds anywhere in the document.
	moved := json.RawMessage(strings.NewReplacer(
		`"$ref":"#/`, `"$ref":"#/properties/input/`, `"$ref":"#"`, `"$ref":"#/properties/input"`,
	).Replace(string(input)))
	arguments["properties"] = withFields(arguments["properties"], map[string]json.RawMessage{"input": moved})
	return arguments
}
