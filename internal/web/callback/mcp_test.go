package callback_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/schema"
	"ringback/internal/turn/claude"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

// overMCP sends a body to the MCP server, with the headers that the CLI sends for a
// turn, followed by headers.
func (t *turn) overMCP(out http.ResponseWriter, body []byte, headers ...string) {
	t.t.Helper()
	r := httptest.NewRequestWithContext(t.t.Context(), http.MethodPost, claude.MCPPath, bytes.NewReader(body))
	all := append([]string{
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream",
		claude.HeaderRequestID, string(t.id), claude.HeaderSignature, string(t.signature),
	}, headers...)
	for i := 0; i < len(all); i += 2 {
		r.Header.Set(all[i], all[i+1])
		if all[i+1] == "" {
			r.Header.Del(all[i])
		}
	}
	t.http.ServeHTTP(out, r)
}

func toolCall(name string, arguments any) []byte {
	text, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": name, "arguments": arguments}})
	if err != nil {
		panic(err)
	}
	return text
}

// use calls a tool. Status is 0 if it succeeded, 1 if it did not.
func (t *turn) use(name string, arguments any) answer {
	t.t.Helper()
	out := httptest.NewRecorder()
	t.overMCP(out, toolCall(name, arguments))
	return t.toolAnswer(out)
}

func (t *turn) toolAnswer(out *httptest.ResponseRecorder) (a answer) {
	t.t.Helper()
	var wire struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal(out.Body.Bytes(), &wire); err != nil || out.Code != http.StatusOK || len(wire.Result.Content) != 1 {
		t.t.Fatalf("a tool was answered %d %s (%v)", out.Code, out.Body, err)
	}
	if err := json.Unmarshal([]byte(wire.Result.Content[0].Text), &a.Body); err != nil {
		t.t.Fatalf("a tool answered %q", wire.Result.Content[0].Text)
	}
	if wire.Result.IsError {
		a.Status = 1
	}
	return a
}

// Both ways use the same services and give the same answers.
func TestBothWaysAnswerTheSame(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	byCurl, byMCP := s.start("errand"), s.start("errand")
	for i, c := range []struct {
		endpoint, tool string
		payload        object
	}{
		{"progress", kind.ReportProgress, object{"message": "Going", "progress": 10}},
		{"progress", kind.ReportProgress, object{"progress": 101}},
		{"suggestions", kind.SubmitResult, object{"suggestions": "none"}},
		{"suggestions", kind.SubmitResult, object{}},
		{"suggestions", kind.SubmitResult, object{"suggestions": []any{}, "reasoning": 1, "more": true}},
		{"failure", kind.ReportFailure, object{}},
		{"checkpoints", kind.AskUser, object{"type": "review", "message": ""}},
		{"checkpoints", kind.AskUser, object{"type": "information_request", "message": "Which?", "props": object{"schema": 1}}},
		{"actions/deploy", "deploy", object{"input": object{"name": "x"}}},
		{"actions/deploy", "deploy", object{"name": "shop"}},
		{"actions/look", "look", object{"input": object{}}},
		{"suggestions/batch", kind.SubmitBatch, object{"batch": 0, "suggestions": []any{}}},
		{"suggestions/batch", kind.SubmitBatch, object{"batch": 1, "suggestions": []any{"a", 2}}},
		{"suggestions/batch", kind.SubmitBatch, object{"batch": 1, "suggestions": []any{"a", "b"}}},
		{"suggestions/batch", kind.SubmitBatch, object{"batch": 1, "suggestions": []any{"a", "b"}}},
		{"suggestions/batch", kind.SubmitBatch, object{"batch": 1, "suggestions": []any{"c"}}},
		{"suggestions/batch", kind.SubmitBatch, object{"batch": 2, "suggestions": []any{"c", "d", "e", "f"}}},
		{"suggestions/batch", kind.SubmitBatch, object{"batch": 2, "final": true, "suggestions": []any{"c"}, "reasoning": "So."}},
		{"suggestions/batch", kind.SubmitBatch, object{"batch": 2, "final": true, "suggestions": []any{"c"}, "reasoning": "So."}},
		{"suggestions", kind.SubmitResult, object{"suggestions": []any{"z"}}},
		{"checkpoints", kind.AskUser, object{"type": "information_request", "message": "Which?"}},
	} {
		want, got := byCurl.call(c.endpoint, c.payload), byMCP.use(c.tool, c.payload)
		if diff := cmp.Diff(want.Body, got.Body); diff != "" || (want.Status != http.StatusOK) != (got.Status != 0) {
			t.Errorf("%d: %s %v: curl is answered %d, MCP %d; the difference is %s", i, c.tool, c.payload, want.Status, got.Status, diff)
		}
	}
	want, _ := json.Marshal(byCurl.job().Result)
	if got, _ := json.Marshal(byMCP.job().Result); !bytes.Equal(want, got) || byMCP.job().State != job.Received {
		t.Errorf("%s by curl, %s over MCP", want, got)
	}
}

// A submission over one way is recognized over the other.
func TestARepeatedCallIsKnownOverEitherWay(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("errand")
	result := object{"suggestions": []any{"a"}}
	turn.want(http.StatusOK, "suggestions", result)
	if a := turn.use(kind.SubmitResult, result); a.Status != 0 || a.Body["received"] != 1.0 {
		t.Errorf("the same again is answered %v", a)
	}
	if a := turn.use(kind.SubmitResult, object{"suggestions": []any{"b"}}); a.Status == 0 || a.text("error") != "A different result was already accepted" {
		t.Errorf("another result is answered %v", a)
	}
}

func TestWhoMayCallOverMCP(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{BodyLimit: 2000})
	mine, another, ended := s.start("errand"), s.start("errand"), s.start("errand")
	ended.end(job.Failed)
	old := s.start("errand")
	superseded := *old
	old.use(kind.AskUser, object{"type": "information_request", "message": "Which?"})
	old.reply(checkpoint.Reply{Text: "The red one"})
	old.resume()
	byCurl := s.start("note")
	progress := toolCall(kind.ReportProgress, object{"message": "Going"})
	for name, c := range map[string]struct {
		turn    *turn
		body    []byte
		headers []string
		want    int
	}{
		"the turn":                   {mine, progress, nil, http.StatusOK},
		"its next one":               {old, progress, nil, http.StatusOK},
		"nobody":                     {mine, progress, []string{claude.HeaderRequestID, "", claude.HeaderSignature, ""}, http.StatusBadRequest},
		"no signature":               {mine, progress, []string{claude.HeaderSignature, ""}, http.StatusBadRequest},
		"a wrong signature":          {mine, progress, []string{claude.HeaderSignature, strings.Repeat("0", 64)}, http.StatusForbidden},
		"another job's signature":    {mine, progress, []string{claude.HeaderSignature, string(another.signature)}, http.StatusForbidden},
		"an unknown request":         {mine, progress, []string{claude.HeaderRequestID, "req_00_unknown"}, http.StatusNotFound},
		"a superseded turn":          {&superseded, progress, nil, http.StatusForbidden},
		"a job that has ended":       {ended, progress, nil, http.StatusNotFound},
		"a kind that calls by curl":  {byCurl, progress, nil, http.StatusNotFound},
		"a page":                     {mine, progress, []string{"Origin", "http://localhost:3001"}, http.StatusForbidden},
		"a page of another site":     {mine, progress, []string{"Origin", "http://evil.example", "Host", "evil.example"}, http.StatusForbidden},
		"a page without an origin":   {mine, progress, []string{"Origin", "null"}, http.StatusForbidden},
		"a form":                     {mine, progress, []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
		"too much":                   {mine, toolCall(kind.ReportProgress, object{"message": strings.Repeat("x", 2000)}), nil, http.StatusRequestEntityTooLarge},
		"what is no JSON":            {mine, []byte("{"), nil, http.StatusBadRequest},
		"what is no JSON-RPC":        {mine, []byte(`{"message": "Going"}`), nil, http.StatusBadRequest},
		"a version from the future":  {mine, progress, []string{"Mcp-Protocol-Version", "2999-01-01"}, http.StatusBadRequest},
		"a session of another place": {mine, progress, []string{"Mcp-Session-Id", "made-up"}, http.StatusOK},
	} {
		out := httptest.NewRecorder()
		c.turn.overMCP(out, c.body, c.headers...)
		must.Equal(t, c.want, out.Code, name, out.Body)
	}
	must.Equal(t, nil, another.job().Activity, "somebody has spoken for another job")
}

// A call that the CLI could not deliver, or that no tool of the kind accepts, is
// reported as the tool's result or as a protocol error; it has no effect.
func TestWrongCallsOverMCP(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	turn := s.start("errand")
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"no arguments":         {[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_result"}}`), "is required but missing"},
		"arguments of a list":  {toolCall(kind.SubmitResult, []any{1}), "must be a JSON object"},
		"a field twice":        {[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_result","arguments":{"suggestions":[],"suggestions":["a"]}}}`), "twice"},
		"an unknown tool":      {toolCall("rm", object{}), "unknown tool"},
		"an endpoint":          {toolCall("/api/claude/tool-calls", object{}), "unknown tool"},
		"a tool of the hook's": {toolCall("tool-calls", object{"tool_name": "Bash", "tool_input": object{}}), "unknown tool"},
		"an unknown method":    {[]byte(`{"jsonrpc":"2.0","id":1,"method":"jobs/delete"}`), "jobs/delete"},
	} {
		out := httptest.NewRecorder()
		turn.overMCP(out, c.body)
		if !strings.Contains(out.Body.String(), c.want) || out.Code >= 500 {
			t.Errorf("%s: answered %d %s, want %q", name, out.Code, out.Body, c.want)
		}
	}
	if turn.job().Result != nil || s.ran.Load() != 0 {
		t.Error("something happened")
	}
}

// Older versions of the protocol may send several calls in one request: each counts.
func TestManyCallsInOneRequestAreTooFast(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{Rate: 3}).start("errand")
	var calls []json.RawMessage
	for i := range 20 {
		calls = append(calls, json.RawMessage(bytes.Replace(toolCall(kind.ReportProgress, object{"message": strconv.Itoa(i)}), []byte(`"id":1`), fmt.Appendf(nil, `"id":%d`, i+1), 1)))
	}
	body, _ := json.Marshal(calls)
	out := httptest.NewRecorder()
	turn.overMCP(out, body)
	if refused := strings.Count(out.Body.String(), "Too many callbacks"); refused < 15 {
		t.Errorf("%d of 20 calls were refused: %s", refused, out.Body)
	}
}

// The tools are those that the command line allows, and the SDK's client can parse them.
func TestToolsOfAKind(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	turn := s.start("errand")
	server := httptest.NewServer(s.http)
	t.Cleanup(server.Close)
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session := must.Get(client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL + claude.MCPPath, HTTPClient: &http.Client{Transport: turn}}, nil))(t)
	t.Cleanup(func() { _ = session.Close() })
	tools, schemas := []string{}, map[string]*schema.Schema{}
	for tool, err := range session.Tools(t.Context(), nil) {
		must.OK(t, err)
		text, _ := json.Marshal(tool.InputSchema)
		schemas[tool.Name] = must.Get(schema.New(tool.Name, text))(t)
		tools = append(tools, tool.Name)
		must.NotContain(t, string(text), "seen", tool.Name, "shows a property of the server's own")
	}
	kinds, _ := kind.Load(ownKinds)
	k, _ := kinds.Get("errand")
	want := k.CallbackTools()
	slices.Sort(want)
	must.Equal(t, want, tools)
	for _, c := range []struct {
		tool string
		fits bool
		with object
	}{
		{kind.SubmitResult, true, object{"suggestions": []any{"a"}}},
		{kind.SubmitResult, false, object{"suggestions": []any{json.Number("1")}}},
		{"deploy", true, object{"input": object{"name": "shop"}, "confirmed": true}},
		{"deploy", false, object{"input": object{"name": "x"}}}, // its reference points to the moved definition
		{"deploy", false, object{"name": "shop"}},
	} {
		must.Equal(t, c.fits, schemas[c.tool].Validate(c.with) == nil, c.tool, c.with)
	}
	if result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "look", Arguments: object{"input": object{}}}); err != nil || result.IsError || s.ran.Load() != 1 {
		t.Errorf("an action was answered %v, %v; it ran %d times", result, err, s.ran.Load())
	}
}

// RoundTrip sends the turn's headers with each request of an MCP client.
func (t *turn) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set(claude.HeaderRequestID, string(t.id))
	r.Header.Set(claude.HeaderSignature, string(t.signature))
	return http.DefaultTransport.RoundTrip(r)
}

// If Claude has not received the end of an action, the same call asks again and does
// not run it again. After Claude has received it, the same call is another run.
func TestAnAnswerThatIsLostOverMCP(t *testing.T) {
	t.Parallel()
	errand := startServer(t, callback.Options{}).start("errand")
	input := object{"input": object{"at": "x"}}
	errand.overMCP(lost{httptest.NewRecorder()}, toolCall("look", input))
	for i, want := range []int32{1, 1, 2} {
		must.Equal(t, want, errand.ran.Load(), "runs after", i+1, "calls")
		must.Equal(t, "success", errand.use("look", input).text("status"))
	}
}
