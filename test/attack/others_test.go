package attack

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/test/harness"
	"ringback/test/must"
)

// aliceMark is in all of Alice's data.
const aliceMark = "alice-alone-knows-this"

// alice is a user with an open question, a change under review, a standing approval, and a
// chat.
type alice struct {
	s                                       *harness.Server
	asking, checkpoint, approval            string
	changing, review, delivered, conference string
}

// newAlice creates all of this.
func newAlice(t *testing.T, s *harness.Server) alice {
	t.Helper()
	a := alice{s: s, conference: "chat-of-alice"}
	key := map[string]string{"Authorization": "Bearer " + backendKey}
	post := func(path string, body harness.Object) harness.Object {
		return s.Want(t, 200, harness.Request{Method: "POST", Path: path, Header: key, Body: body})
	}
	var envelope harness.Object
	a.delivered, envelope = s.Manual(t, key, harness.Object{"userId": "alice", "sessionId": a.conference})
	result := maps.Clone(envelope)
	result["reasoning"] = aliceMark
	result["suggestions"] = []any{harness.Object{"date": "2026-03-02", "mealType": "dinner", "recipe": harness.Object{"name": aliceMark, "source": "Own"}}}
	post("/api/claude/result", result)
	a.changing = s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: key, Body: harness.Object{
		"kind": "code-change", "userId": "alice", "input": harness.Object{"prompt": aliceMark, "repos": []any{harness.Object{"url": repository(t, false)}}},
	}})["requestId"].(string)
	ship := harness.Object{"kind": "ship", "userId": "alice", "sessionId": a.conference + "-2", "input": harness.Object{"prompt": aliceMark}}
	a.asking, envelope = s.Manual(t, key, ship)
	tool := maps.Clone(envelope)
	maps.Copy(tool, harness.Object{"input": harness.Object{"projectName": aliceMark, "reason": aliceMark}})
	post("/api/claude/actions/deployToShipperCloud", tool)
	a.checkpoint = a.question(t, a.asking)
	careful, envelope := s.Manual(t, key, harness.Object{"kind": "careful", "userId": "alice", "input": harness.Object{}})
	s.Want(t, 200, harness.Request{
		Method: "POST", Path: "/api/claude/tool-calls", Header: map[string]string{"X-Ringback-Request-Id": careful, "X-Ringback-Signature": fmt.Sprint(envelope["hmac"])},
		Body: harness.Object{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": "/", "tool_input": harness.Object{"command": "make " + aliceMark}},
	})
	post("/api/checkpoints/"+a.question(t, careful)+"/reply", harness.Object{"decision": "approve", "scope": "always"})
	standing, _ := s.Want(t, 200, with(backendKey, "GET", "/api/approvals?userId=alice", nil))["approvals"].([]any)
	if len(standing) != 1 {
		t.Fatalf("standing approvals: %v", standing)
	}
	a.approval, _ = standing[0].(harness.Object)["id"].(string)
	a.review = a.question(t, a.changing)
	harness.Eventually(t, "what the change's turn has used to be booked", func() bool {
		usage, _ := s.Want(t, 200, with(backendKey, "GET", "/api/jobs/"+a.changing, nil))["usage"].(harness.Object)
		tokens, _ := usage["inputTokens"].(float64)
		return tokens > 0
	})
	return a
}

// question waits for a job's question, and returns its id.
func (a alice) question(t *testing.T, id string) (checkpoint string) {
	t.Helper()
	harness.Eventually(t, "a question", func() bool {
		record := a.s.Want(t, 200, with(backendKey, "GET", "/api/jobs/"+id, nil))
		open, _ := record["checkpoint"].(harness.Object)
		checkpoint, _ = open["id"].(string)
		return checkpoint != ""
	})
	return checkpoint
}

// state returns all stored data of Alice.
func (a alice) state(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{
		"/api/jobs?userId=alice", "/api/checkpoints?userId=alice&status=", "/api/checkpoints/" + a.checkpoint, "/api/checkpoints/" + a.review, "/api/approvals?userId=alice",
		"/api/sessions/" + a.conference + "/messages?userId=alice", "/api/jobs/" + a.asking, "/api/jobs/" + a.changing, "/api/jobs/" + a.delivered,
		"/api/jobs/" + a.asking + "/audit", "/api/jobs/" + a.changing + "/audit", "/api/jobs/" + a.changing + "/steering", "/api/jobs/" + a.changing + "/viewed",
	} {
		_, _, text, err := once(t, "GET", a.s.URL+path, backendKey, "")
		must.OK(t, err)
		fmt.Fprintf(&all, "%s\n%s\n", path, text)
	}
	return all.String()
}

// bodies returns what Alice may send to each route that changes something; nothing for a
// route without a body. A route without an entry fails the test.
func (a alice) bodies() map[string][]harness.Object {
	none := []harness.Object{nil, {}}
	claude := []harness.Object{{"requestId": a.asking}, {"requestId": a.asking, "hmac": strings.Repeat("0", 64), "message": "x"}, {"requestId": a.changing, "message": "x"}}
	chat := []harness.Object{
		{"sessionId": a.conference, "userId": "alice", "content": "Yes"},
		{"sessionId": a.conference + "-2", "userId": "alice", "content": "Yes, deploy it"},
		{"sessionId": a.conference + "-2", "userId": "alice", "content": "Yes", "checkpointId": a.checkpoint, "decision": "approve"},
	}
	return map[string][]harness.Object{
		"DELETE /api/approvals/:id":          none,
		"POST /api/jobs/:id/cancel":          none,
		"POST /api/jobs/:id/retry":           none,
		"POST /api/jobs/:id/move":            none,
		"POST /api/kinds/reload":             none,
		"POST /api/jobs/bulk":                {{"action": "cancel", "requestIds": []string{a.asking, a.changing}}, {"action": "retry", "requestIds": []string{a.delivered}}, {"action": "answer", "requestIds": []string{a.asking}, "checkpointIds": []string{a.checkpoint}, "text": "yes"}, {"action": "move", "requestIds": []string{a.asking, a.changing}}},
		"POST /api/doctor":                   none,
		"POST /api/store/finish":             none,
		"POST /api/store/migrate":            none,
		"POST /api/notifications/:id/retry":  none,
		"POST /api/jobs/:id/approve":         {nil, {}, {"checkpointId": a.checkpoint}, {"checkpointId": a.review, "iteration": 0}, {"reason": "I am Alice"}},
		"POST /api/jobs/:id/reject":          {nil, {}, {"checkpointId": a.checkpoint}, {"reason": "I am Alice"}},
		"POST /api/jobs/:id/interrupt":       {{"message": "Stop it", "turn": true}},
		"POST /api/jobs/:id/viewed":          {{"repository": "service", "digest": strings.Repeat("0", 64), "viewed": true}},
		"POST /api/jobs/:id/steer":           {{"prompt": "Do what I say"}},
		"POST /api/checkpoints/:id/reply":    {{"decision": "approve"}, {"decision": "approve", "scope": "always"}, {"text": "yes"}, {"decision": "deny"}, {"values": harness.Object{"x": 1}}},
		"POST /api/jobs":                     {{"kind": "meal-suggestions", "userId": "alice", "input": mealInput}, {"kind": "ship", "userId": "alice", "sessionId": a.conference, "input": harness.Object{"prompt": "x"}}},
		"POST /api/suggestions":              {{"userId": "alice", "dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-04"}},
		"POST /hitl/runs":                    {{"prompt": "x", "user_id": "alice", "session_id": a.conference}},
		"POST /to-llm":                       chat,
		"POST /from-llm":                     chat,
		"POST /api/slack/commands":           {{"text": "approve " + a.checkpoint}},
		"POST /api/claude/actions/:name":     append([]harness.Object{{"requestId": a.asking, "input": harness.Object{"projectName": "x", "reason": "y"}}}, claude...),
		"POST /api/claude/checkpoints":       claude,
		"POST /api/claude/failure":           claude,
		"POST /api/claude/mcp":               append([]harness.Object{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": harness.Object{"name": "submit_result", "arguments": harness.Object{}}}}, claude...),
		"POST /api/claude/progress":          claude[1:2], // without a signature it is progress of a job with a known id: SECURITY.md
		"POST /api/claude/result":            claude,
		"POST /api/claude/suggestions":       claude,
		"POST /api/claude/suggestions/batch": claude,
		"POST /api/claude/tool-calls":        claude,
		"POST /progress":                     claude[1:2],
		"POST /suggestions":                  claude,
	}
}

// paths returns a route with the ids of Alice's data in it, in several spellings.
func (a alice) paths(route string) []string {
	ids := []string{a.asking, a.changing, a.delivered}
	switch {
	case strings.HasPrefix(route, "/api/checkpoints/"):
		ids = []string{a.checkpoint, a.review}
	case strings.HasPrefix(route, "/api/approvals/"):
		ids = []string{a.approval, "x"}
	case strings.HasPrefix(route, "/api/sessions/"):
		ids = []string{a.conference, a.conference + "-2"}
	}
	var paths []string
	for i, id := range ids {
		spellings := []string{id, "./" + id, "x/../" + id, strings.Replace(id, "_", "%5f", 1), id + "/", id + "%00"}
		if i > 0 {
			spellings = spellings[:1]
		}
		for _, spelled := range spellings {
			path := strings.NewReplacer(":id", spelled, ":name", "deployToShipperCloud", "*", "README.md").Replace(route)
			paths = append(paths, path)
			if spelled == id {
				paths = append(paths, path+"?userId=alice", path+"?userId=bob&userId=alice", path+"?requestId="+id)
			}
		}
		if !strings.Contains(route, ":id") {
			break
		}
	}
	return paths
}

// No one but Alice can access her data, on any route and with any body that she could send
// there; and her own requests do take effect.
func TestNobodyIsAlice(t *testing.T) {
	t.Parallel()
	kinds := t.TempDir()
	write(t, filepath.Join(kinds, "careful.md"), "---\ntools: {ask: [Bash]}\n---\nDo it.\n")
	s := harness.Start(t, harness.Vars{"API_KEYS": backendKey, "JWT_SECRET": tokenSecret, "HOLD": "0s", "SANDBOX": "off", "PROMPTS_DIR": kinds, "REPOSITORY_PATHS": os.TempDir()}, nil)
	a := newAlice(t, s)
	before := a.state(t)
	if !strings.Contains(before, aliceMark) {
		t.Fatal("nothing is Alice's")
	}
	bodies := a.bodies()
	for _, sub := range []string{"bob", "Alice", "alice ", " alice", "alic\u0435", "alice\u200b", "*", "alice,bob", "alice/x", "ALICE", "alice\x00", "%61lice"} {
		credential := token(t, tokenSecret, jwt.MapClaims{"sub": sub, "exp": time.Now().Add(time.Hour).Unix()})
		for _, r := range documentedPatterns(t) {
			route := r.Method + " " + r.Path
			sent, known := bodies[route]
			switch {
			case r.Method == http.MethodGet || r.Method == http.MethodHead:
				sent = []harness.Object{nil}
			case !known:
				t.Fatalf("%s is new: say in bodies what may be sent there", route)
			}
			paths := a.paths(r.Path)
			if sub != "bob" {
				paths = paths[:2] // one stranger has tried the spellings
			}
			for _, path := range paths {
				for _, body := range sent {
					text := ""
					if body != nil {
						text = encoded(t, body)
					}
					status, _, answer, err := once(t, r.Method, s.URL+path, credential, text)
					if err != nil {
						t.Fatalf("%s %s: %v", r.Method, path, err)
					}
					if status >= 500 && status != 503 || strings.Contains(answer, aliceMark) || strings.Contains(answer, a.checkpoint) && !strings.Contains(path+text, a.checkpoint) {
						t.Errorf("%q: %s %s %s was answered %d %.300s", sub, r.Method, path, text, status, answer)
					}
				}
			}
		}
		if after := a.state(t); after != before {
			t.Fatalf("%q has changed what is Alice's:\n%s\nit was\n%s", sub, after, before)
		}
	}
	bob := map[string]string{"Authorization": "Bearer " + token(t, tokenSecret, jwt.MapClaims{"sub": "bob", "exp": time.Now().Add(time.Hour).Unix()})}
	var answers []string
	for _, session := range []string{a.conference, a.conference + "-2", "nobody-has-one"} { // whether it exists is not shown
		status, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: "/to-llm", Header: bob, Body: harness.Object{"sessionId": session, "content": "Yes"}})
		answers = append(answers, strings.ReplaceAll(fmt.Sprint(status, answer), session, "…"))
	}
	for _, answer := range answers {
		if answer != answers[2] || !strings.HasPrefix(answer, "404 ") {
			t.Errorf("messages into sessions that are not Bob's were answered %q", answers)
		}
	}
	// An object of one's own with the same name is no way to get hers.
	s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: bob, Body: harness.Object{"kind": "meal-suggestions", "sessionId": a.conference, "input": mealInput}})
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/to-llm", Header: bob, Body: harness.Object{"sessionId": a.conference, "content": "Hello"}})
	own := token(t, tokenSecret, jwt.MapClaims{"sub": "alice", "exp": time.Now().Add(time.Hour).Unix()})
	for _, r := range []harness.Request{
		{Method: "POST", Path: "/api/jobs/" + a.changing + "/steer", Body: bodies["POST /api/jobs/:id/steer"][0]},
		{Method: "POST", Path: "/api/checkpoints/" + a.checkpoint + "/reply", Body: bodies["POST /api/checkpoints/:id/reply"][0]},
		{Method: "POST", Path: "/api/jobs/" + a.asking + "/cancel"},
		{Method: "POST", Path: "/to-llm", Body: bodies["POST /to-llm"][0]},
		{Method: "GET", Path: "/api/jobs/" + a.asking},
		{Method: "GET", Path: "/hitl/runs/" + a.asking},
		{Method: "GET", Path: "/api/jobs?userId=alice"},
	} {
		r.Header = map[string]string{"Authorization": "Bearer " + own}
		s.Want(t, 200, r)
	}
}
