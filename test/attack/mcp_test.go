package attack

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
)

const mcpPath = "/api/claude/mcp"

// mcpServer starts a server whose kind errand calls back over MCP. Its action records each
// run in a file.
func mcpServer(t *testing.T) (s *harness.Server, runs string) {
	t.Helper()
	prompts, schemas := t.TempDir(), t.TempDir()
	runs = filepath.Join(t.TempDir(), "runs")
	if err := os.Chmod(filepath.Dir(runs), 0o777); err != nil { // if the server is root, jobs run as another user
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		filepath.Join(prompts, "errand.md"): "---\ncallback: mcp\nactions:\n  - name: pay\n    input: {type: object, required: [to], properties: {to: {type: string}}}\n" +
			"    command: [sh, -c, 'echo paid >> " + runs + "; echo {}']\n    writable: [" + filepath.Dir(runs) + "]\n---\nRun an errand.",
		filepath.Join(schemas, "errand.result.json"): `{"type": "object", "required": ["note"], "properties": {"note": {"type": "string"}}, "additionalProperties": false}`,
	} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return harness.Start(t, harness.Vars{"HOLD": "0s", "CALLBACK_STRICT": "false", "PROMPTS_DIR": prompts, "SCHEMAS_DIR": schemas}, nil), runs
}

var errand = harness.Object{"kind": "errand", "input": harness.Object{}, "userId": "u1", "sessionId": "s1"}

// overMCP returns a tool call as the CLI makes it for a turn.
func overMCP(envelope harness.Object, tool string, arguments any) harness.Request {
	return harness.Request{Method: http.MethodPost, Path: mcpPath, Body: harness.Object{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": harness.Object{"name": tool, "arguments": arguments},
	}, Header: map[string]string{
		"Accept": "application/json, text/event-stream", "X-Ringback-Request-Id": fmt.Sprint(envelope["requestId"]), "X-Ringback-Signature": fmt.Sprint(envelope["hmac"]),
	}}
}

// said returns the text of a tool's response.
func said(answer harness.Object) string {
	text, _ := json.Marshal(answer["result"])
	return string(text)
}

func withHeader(r harness.Request, name, value string) harness.Request {
	r.Header = maps.Clone(r.Header)
	r.Header[name] = value
	return r
}

// nextTurn waits for the turn after that of an envelope, and returns its envelope.
func nextTurn(t *testing.T, s *harness.Server, before harness.Object) (now harness.Object) {
	t.Helper()
	job := harness.Request{Method: "GET", Path: "/api/jobs/" + before["requestId"].(string)}
	callback := harness.Request{Method: "GET", Path: job.Path + "/callback"}
	harness.Eventually(t, "the next turn", func() bool {
		now = s.Want(t, 200, callback)
		return s.Want(t, 200, job)["status"] == "running" && now["hmac"] != before["hmac"]
	})
	now["requestId"] = before["requestId"]
	return now
}

// Only the running turn has access over MCP: another job's or an earlier turn's knowledge
// does not help, and neither does a page in a browser, whatever name it gives this machine.
func TestStrangersOverMCP(t *testing.T) {
	t.Parallel()
	s, _ := mcpServer(t)
	id, before := s.Manual(t, nil, errand)
	_, another := s.Manual(t, nil, harness.Object{"kind": "errand", "input": harness.Object{}, "userId": "u2"})
	_, byCurl := s.Manual(t, nil, harness.Object{"userId": "u1"})
	s.Want(t, 200, overMCP(before, "ask_user", harness.Object{"type": "information_request", "message": "Which?"}))
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/to-llm", Body: harness.Object{"sessionId": "s1", "userId": "u1", "content": "blue"}})
	now := nextTurn(t, s, before)
	result := harness.Object{"note": "Done."}
	submit := overMCP(now, "submit_result", result)
	live := fmt.Sprint(now["hmac"])
	signed := func(signature string) harness.Request { return withHeader(submit, "X-Ringback-Signature", signature) }
	get, del, put := submit, submit, submit
	get.Method, get.Body, del.Method, put.Method = http.MethodGet, nil, http.MethodDelete, http.MethodPut
	rebound := submit
	rebound.Host = "evil.example:3001"
	for name, c := range map[string]struct {
		request harness.Request
		want    int
	}{
		"the turn before":            {signed(fmt.Sprint(before["hmac"])), 403},
		"another job's turn":         {signed(fmt.Sprint(another["hmac"])), 403},
		"another job's request":      {withHeader(submit, "X-Ringback-Request-Id", fmt.Sprint(another["requestId"])), 403},
		"in capitals":                {signed(strings.ToUpper(live)), 403},
		"cut short":                  {signed(live[:63]), 403},
		"drawn out":                  {signed(live + "0"), 403},
		"no signature":               {signed(""), 400},
		"a kind that calls by curl":  {overMCP(byCurl, "submit_result", result), 404},
		"a job that nobody knows":    {withHeader(submit, "X-Ringback-Request-Id", "req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa"), 404},
		"a page":                     {withHeader(submit, "Origin", "https://evil.example"), 403},
		"a page of this machine's":   {withHeader(submit, "Origin", "http://localhost:3000"), 403},
		"the console's own page":     {withHeader(submit, "Origin", s.URL), 403},
		"a page without a name":      {withHeader(submit, "Origin", "null"), 403},
		"a name that leads here":     {rebound, 403},
		"a form":                     {withHeader(submit, "Content-Type", "text/plain"), 415},
		"a stream":                   {get, 405},
		"the end of a session":       {del, 405},
		"another method":             {put, 405},
		"what accepts no answer":     {withHeader(submit, "Accept", "text/html"), 400},
		"another version":            {withHeader(submit, "Mcp-Protocol-Version", "1999-01-01"), 400},
		"an event to go on with":     {withHeader(submit, "Last-Event-ID", "1_1"), 400},
		"more than a body may hold":  {overMCP(now, "submit_result", harness.Object{"note": strings.Repeat("x", 2<<20)}), 413},
		"what goes on for ever deep": {harness.Request{Method: "POST", Path: mcpPath, Header: submit.Header, Body: strings.Repeat("[", 100_000)}, 400},
	} {
		status, answer := harness.Send(t, s.URL, c.request)
		if status != c.want || answer["error"] == nil && status != 405 {
			t.Errorf("%s: answered %d %v, want %d", name, status, answer, c.want)
		}
	}
	if record := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id}); record["result"] != nil {
		t.Errorf("a stranger has submitted: %v", record)
	}
	s.Want(t, 200, submit)
	if record := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id}); record["status"] != "received" {
		t.Errorf("the turn itself could not submit: %v", record)
	}
}

// A repeated call gets the same response as before and does nothing, even if it arrives a
// hundred times at once, or the job is over.
func TestReplaysOverMCP(t *testing.T) {
	t.Parallel()
	s, runs := mcpServer(t)
	id, envelope := s.Manual(t, nil, errand)
	at := func(requests ...harness.Request) {
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { harness.Send(t, s.URL, requests[i%len(requests)]) })
		}
		all.Wait()
	}
	// Nothing was approved: whatever is claimed, a person is asked.
	pay := harness.Object{"input": harness.Object{"to": "evil"}, "confirmed": true}
	at(overMCP(envelope, "pay", pay))
	if _, err := os.Stat(runs); err == nil {
		t.Fatal("it ran without a yes")
	}
	c, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id})["checkpoint"].(harness.Object)
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/checkpoints/" + fmt.Sprint(c["id"]) + "/reply", Body: harness.Object{"decision": "approve"}})
	now := nextTurn(t, s, envelope)
	another := harness.Object{"input": harness.Object{"to": "evil", "confirmed": true}, "confirmed": true}
	s.Want(t, 200, overMCP(now, "pay", pay))
	at(overMCP(now, "pay", pay), overMCP(now, "pay", another), overMCP(envelope, "pay", pay))
	if text, _ := os.ReadFile(runs); string(text) != "paid\n" {
		t.Errorf("one yes has paid %q", text)
	}
	id, envelope = s.Manual(t, nil, harness.Object{"kind": "errand", "input": harness.Object{}, "userId": "u3"})
	first, second := overMCP(envelope, "submit_result", harness.Object{"note": "one"}), overMCP(envelope, "submit_result", harness.Object{"note": "two"})
	at(first, second)
	record := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id})
	note := fmt.Sprint(record["result"].(harness.Object)["note"])
	for text, request := range map[string]harness.Request{"one": first, "two": second} {
		answer := said(s.Want(t, 200, request))
		if accepted := strings.Contains(answer, `\"success\":true`); accepted != (text == note) {
			t.Errorf("the result is %s, and %s is answered %s", note, text, answer)
		}
	}
}

// A request to keep the connection open is denied, and unused methods of the protocol
// reveal nothing.
func TestMCPOffersNothingButTools(t *testing.T) {
	t.Parallel()
	s, _ := mcpServer(t)
	_, envelope := s.Manual(t, nil, errand)
	const version = "2026-07-28"
	meta := harness.Object{"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientInfo": harness.Object{"name": "x", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": harness.Object{}}
	for _, method := range []string{"subscriptions/listen", "resources/subscribe", "resources/read", "prompts/get", "logging/setLevel", "completion/complete", "sampling/createMessage", "jobs/list"} {
		r := withHeader(withHeader(overMCP(envelope, "", nil), "Mcp-Protocol-Version", version), "Mcp-Method", method)
		r.Body = harness.Object{"jsonrpc": "2.0", "id": 1, "method": method, "params": harness.Object{"_meta": meta, "uri": "file:///etc/passwd", "name": "x", "level": "debug"}}
		r.By = &http.Client{Timeout: 20 * time.Second}
		if resp := harness.Exchange(t, s.URL, r); resp.Status >= 500 || !strings.Contains(resp.Text, `"error"`) {
			t.Errorf("%s is answered %d %s", method, resp.Status, resp.Text)
		}
	}
}
