package contract

import (
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"ringback/internal/rules/lifecycle"
	"ringback/test/harness"
	"ringback/test/must"
)

var update = flag.Bool("update", false, "write test/document/examples.json")

const examples = "../document/examples.json"

var meals = object{"dateRangeStart": "2026-03-02", "dateRangeEnd": "2026-03-03"}

func suggestion(name string) object {
	return object{"date": "2026-03-02", "mealType": "dinner", "recipe": object{"name": name, "source": "Own recipe"}}
}

// TestEveryAnswerIsInTheContract uses every operation of the server and causes every event.
// Each answer and each frame must match the contracts.
func TestEveryAnswerIsInTheContract(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	defer gone.Close()
	kinds := ownKinds(t)
	s := newSession(t, harness.Start(t, harness.Vars{"HOLD": "0s", "WEBHOOK_URL": gone.URL, "PROMPTS_DIR": kinds, "SLACK_SIGNING_SECRET": slackSecret}, nil))
	events := s.listen("userId=u1")
	s.serverRoutes()
	s.meals()
	s.questions()
	s.actions()
	s.tools()
	s.mcp()
	s.newVersion(kinds)
	s.change()
	s.media()
	s.chat()
	s.endings()
	s.notifications()
	s.reads()
	written := s.writing()
	for name := range s.http.operations {
		if !s.seen[name] {
			t.Errorf("the operation %s was never answered without an error: make the test do it", name)
		}
	}
	events.close(s, written)
	if *update && !t.Failed() {
		s.writeExamples(events.recorded)
	}
}

// ownKinds returns a directory with kinds that ask before they run anything, and that call
// back over MCP.
func ownKinds(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"asking.md": "---\ndescription: Asks before it runs anything\ntools:\n  ask: [Bash]\n---\nDo it.",
		"tooled.md": "---\ndescription: Calls back by tools\ncallback: mcp\n---\nDo it.",
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// overMCP returns the headers of a call over MCP.
func overMCP(sign object) map[string]string {
	return map[string]string{
		"X-Ringback-Request-Id": sign["requestId"].(string), "X-Ringback-Signature": sign["hmac"].(string),
		"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18",
	}
}

func (s *session) mcp() {
	id, sign := s.manual("tooled", object{})
	report := object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{
		"name": "report_progress", "arguments": object{"message": "Reading", "progress": 20},
	}}
	s.want(200, call{op: "mcp", body: report, header: overMCP(sign)})
	s.want(200, call{op: "mcp", body: object{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, header: overMCP(sign)})
	s.want(202, call{op: "mcp", body: object{"jsonrpc": "2.0", "method": "notifications/initialized"}, header: overMCP(sign)})
	s.want(400, call{op: "mcp", body: report})
	s.want(200, call{op: "cancelJob", path: object{"requestId": id}})
	s.want(200, call{op: "mcp", body: report, header: overMCP(sign)}) // its result is an error
}

// newVersion moves a job to a version of its kind that is newer than the job.
func (s *session) newVersion(kinds string) {
	id, _ := s.manual("tooled", object{})
	must.OK(s, os.WriteFile(filepath.Join(kinds, "tooled.md"), []byte("---\ndescription: Calls back by tools\ncallback: mcp\n---\nDo it well."), 0o600))
	s.want(200, call{op: "reloadKinds"})
	s.want(200, call{op: "moveJob", path: object{"requestId": id}})
	s.want(200, call{op: "cancelJob", path: object{"requestId": id}})
	s.want(409, call{op: "moveJob", path: object{"requestId": id}})
}

func (s *session) serverRoutes() {
	for _, op := range []string{
		"getHealth", "probe", "getReadiness", "getOpenAPI", "getAsyncAPI", "listKinds", "getStatistics", "inspectStore", "mendStore",
		"getStoreFormat", "finishUpgrade", "migrateStore",
	} {
		s.want(200, call{op: op})
	}
	page := html.UnescapeString(harness.Text(s, s.server.URL+"/docs"))
	for _, op := range s.http.operations {
		if !strings.Contains(page, "<code>"+op.method+" "+op.path+"</code>") {
			s.Errorf("the page /docs has no %s %s", op.method, op.path)
		}
	}
	for _, event := range lifecycle.Events {
		if !strings.Contains(page, "<code>"+string(event.Type)+"</code>") {
			s.Errorf("the page /docs has no event %s", event.Type)
		}
	}
	s.want(200, call{op: "getKind", path: object{"kind": "ship"}})
	s.want(404, call{op: "getKind", path: object{"kind": "no-such"}})
}

// notifications resends a notification that the receiver has refused for good.
func (s *session) notifications() {
	id, _ := s.manual("meal-suggestions", meals)
	s.want(200, call{op: "cancelJob", path: object{"requestId": id}})
	var found object
	harness.Eventually(s, "the notification to be given up", func() bool {
		list := s.want(200, call{op: "listNotifications", query: url.Values{"status": {"given_up"}, "limit": {"500"}}})["notifications"].([]any)
		for _, one := range list {
			if one.(object)["requestId"] == id {
				found = one.(object)
			}
		}
		return found != nil
	})
	s.want(200, call{op: "retryNotification", path: object{"notificationId": found["id"]}})
	s.want(404, call{op: "retryNotification", path: object{"notificationId": "webhook:ended:" + id + ":0"}})
	s.want(400, call{op: "listNotifications", query: url.Values{"status": {"lost"}}})
}

func (s *session) meals() {
	id, sign := s.manual("meal-suggestions", meals)
	with := func(payload object) object {
		all := maps.Clone(sign)
		maps.Copy(all, payload)
		return all
	}
	for _, op := range []string{"reportProgress", "reportProgressShort"} {
		s.want(200, call{op: op, body: with(object{"message": "Reading the history by " + op, "progress": 20, "type": "thinking"})})
	}
	for _, body := range []object{
		{"message": "Cooking", "progress": 30},
		{"hook_event_name": "PostToolBatch", "tool_calls": []any{object{"tool_name": "Bash", "tool_response": "done"}}},
		{"hook_event_name": "Stop", "background_tasks": []any{object{"id": "b1", "command": "sleep 5"}}},
	} { // each delivers a person's message to Claude
		s.want(200, call{op: "sendUserMessage", body: object{"sessionId": "s1", "userId": "u1", "content": "No nuts, please"}})
		op := "askForTool"
		if body["hook_event_name"] == nil {
			op = "reportProgress"
		}
		if told := fmt.Sprint(s.want(200, call{op: op, body: with(body)})); !strings.Contains(told, "No nuts") {
			s.Errorf("Claude is answered %s", told)
		}
	}
	s.want(400, call{op: "submitSuggestions", body: with(object{"suggestions": []any{}})})
	s.want(200, call{op: "submitBatch", body: with(object{"batch": 1, "suggestions": []any{suggestion("Lentil soup")}})})
	s.want(200, call{op: "submitBatch", body: with(object{"batch": 2, "final": true, "suggestions": []any{suggestion("Leek tart")}, "reasoning": "Quick and warm."})})
	s.until(id, "received")
	s.want(409, call{op: "submitResult", body: with(object{"suggestions": []any{suggestion("Another")}, "reasoning": "x"})})
	for _, op := range []string{"submitSuggestions", "submitSuggestionsShort", "submitResult"} {
		_, sign = s.manual("meal-suggestions", meals)
		s.want(200, call{op: op, body: with(object{"suggestions": []any{suggestion("Lentil soup")}, "reasoning": "Warm."})})
	}
	body := maps.Clone(meals)
	body["userId"] = "u1"
	s.want(202, call{op: "createSuggestions", body: body, header: map[string]string{"Idempotency-Key": "monday"}})
	s.want(202, call{op: "createSuggestions", body: body, header: map[string]string{"Idempotency-Key": "monday"}})
	body["servings"] = 3
	s.want(409, call{op: "createSuggestions", body: body, header: map[string]string{"Idempotency-Key": "monday"}})
}

func (s *session) questions() {
	id, sign := s.manual("meal-suggestions", meals)
	ask := maps.Clone(sign)
	maps.Copy(ask, object{"type": "error_recovery", "message": "Which meal?", "props": object{"error_field": "meal", "valid_values": []any{"lunch", "dinner"}}})
	s.want(200, call{op: "ask", body: ask})
	asked := s.until(id, "awaiting_input")["checkpoint"].(object)["id"]
	s.want(200, call{op: "listCheckpoints", query: url.Values{"userId": {"u1"}}})
	s.want(200, call{op: "countCheckpoints"})
	s.want(200, call{op: "getCheckpoint", path: object{"checkpointId": asked}})
	s.want(400, call{op: "replyToCheckpoint", path: object{"checkpointId": asked}, body: object{"values": object{"meal": "brunch"}}})
	s.want(200, call{op: "replyToCheckpoint", path: object{"checkpointId": asked}, body: object{"values": object{"meal": "dinner"}}})
	s.want(409, call{op: "replyToCheckpoint", path: object{"checkpointId": asked}, body: object{"text": "lunch"}})
	s.until(id, "running")
	s.want(200, call{op: "cancelJob", path: object{"requestId": id}})
	s.want(409, call{op: "cancelJob", path: object{"requestId": id}})
}

func (s *session) actions() {
	id, sign := s.manual("ship", object{"prompt": "Ship it"})
	deploy := maps.Clone(sign)
	deploy["input"] = object{"projectName": "shop", "reason": "It is done"}
	action := call{op: "callAction", path: object{"action": "deployToShipperCloud"}, body: deploy}
	s.want(200, action)
	s.approve(id)
	s.until(id, "running")
	deploy["hmac"] = s.want(200, call{op: "getCallback", path: object{"requestId": id}})["hmac"]
	deploy["confirmed"] = true
	s.want(200, action)
	s.want(404, call{op: "callAction", path: object{"action": "none"}, body: deploy})
	s.want(200, call{op: "getAudit", path: object{"requestId": id}})
	s.want(200, call{op: "cancelJob", path: object{"requestId": id}})
	s.want(200, call{op: "listEvents", path: object{"requestId": id}})
}

func (s *session) tools() {
	id, sign := s.manual("asking", object{})
	hook := call{op: "askForTool", body: object{
		"requestId": id, "hmac": sign["hmac"], "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": "/tmp", "tool_input": object{"command": "make"},
	}}
	s.want(200, hook)
	asked := s.until(id, "awaiting_approval")["checkpoint"].(object)["id"]
	s.want(200, call{op: "replyToCheckpoint", path: object{"checkpointId": asked}, body: object{"decision": "approve", "scope": "always"}})
	approvals := s.want(200, call{op: "listApprovals", query: url.Values{"userId": {"u1"}}})["approvals"].([]any)
	if len(approvals) != 1 {
		s.Fatalf("approvals: %v", approvals)
	}
	s.want(200, call{op: "revokeApproval", path: object{"approvalId": approvals[0].(object)["id"]}, query: url.Values{"userId": {"u1"}}})
	s.want(200, call{op: "cancelJob", path: object{"requestId": id}})
}

// change runs a code change that is steered and approved, and another one that is rejected.
func (s *session) change() {
	repository := filepath.Join(s.TempDir(), "service")
	git := func(args ...string) {
		s.Helper()
		if out, err := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"}, args...)...).CombinedOutput(); err != nil {
			s.Fatalf("git %v: %s", args, out)
		}
	}
	must.OK(s, os.MkdirAll(repository, 0o755))
	git("init")
	must.OK(s, os.WriteFile(filepath.Join(repository, "README.md"), []byte("# Service\n"), 0o600))
	git("add", ".")
	git("commit", "-m", "Begin")
	git("config", "receive.denyCurrentBranch", "ignore")
	ask := object{"kind": "code-change", "userId": "u1", "input": object{
		"prompt": "Add a note", "repos": []any{object{"url": repository}}, "verifiers": []any{object{"name": "test", "command": "true"}},
	}}
	create := func() string {
		return s.want(202, call{op: "createJob", body: ask})["requestId"].(string)
	}
	id := create()
	s.until(id, "awaiting_approval")
	for _, op := range []string{"getDiff", "getLogs", "getSteering", "getViewed"} {
		s.want(200, call{op: op, path: object{"requestId": id}})
	}
	file := s.want(200, call{op: "getViewed", path: object{"requestId": id}})["files"].([]any)[0].(object)
	s.want(200, call{op: "setViewed", path: object{"requestId": id}, body: object{"repository": file["repository"], "digest": file["digest"], "viewed": true}})
	s.want(409, call{op: "setViewed", path: object{"requestId": id}, body: object{"repository": file["repository"], "digest": "0", "viewed": true}})
	s.want(200, call{op: "getDiff", path: object{"requestId": id}, query: url.Values{"from": {"1"}, "max_lines": {"3"}}})
	s.want(409, call{op: "listFiles", path: object{"requestId": id}})
	s.want(200, call{op: "steerJob", path: object{"requestId": id}, body: object{"prompt": "In other words"}})
	harness.Eventually(s, "the next round", func() bool {
		j := s.want(200, call{op: "getJob", path: object{"requestId": id}})
		return j["status"] == "awaiting_approval" && j["turn"] == json.Number("2")
	})
	s.want(409, call{op: "approveJob", path: object{"requestId": id}, body: object{"iteration": 0}})
	s.want(400, call{op: "approveJob", path: object{"requestId": id}, body: object{"iteration": 1}})
	s.approve(id)
	s.until(id, "received")
	s.want(200, call{op: "getSteering", path: object{"requestId": id}})
	id = create()
	s.until(id, "awaiting_approval")
	s.want(200, call{op: "rejectJob", path: object{"requestId": id}, body: object{"reason": "Not now"}})
	s.until(id, "rejected")
}

func (s *session) media() {
	run := s.want(202, call{op: "startRun", body: object{"prompt": "a lake", "user_id": "u1", "session_id": "s2", "agent_tool_config": object{"aspect_ratio": "5:3"}}})
	id := run["run_id"].(string)
	s.until(id, "awaiting_input")
	s.want(200, call{op: "getRun", path: object{"runId": id}})
	s.want(200, call{op: "sendUserMessage", body: object{"sessionId": "s2", "userId": "u1", "content": "Use 16:9"}})
	s.until(id, "received")
	s.want(200, call{op: "getRun", path: object{"runId": id}})
	files := s.want(200, call{op: "listFiles", path: object{"requestId": id}})["files"].([]any)
	if len(files) == 0 {
		s.Fatal("no file was made")
	}
	file := object{"requestId": id, "path": files[0].(object)["path"]}
	s.want(200, call{op: "getFile", path: file})
	s.want(206, call{op: "getFile", path: file, header: map[string]string{"Range": "bytes=0-3"}})
	s.want(416, call{op: "getFile", path: file, header: map[string]string{"Range": "bytes=99999999-"}})
	s.want(200, call{op: "headFile", path: file})
	s.want(404, call{op: "getFile", path: object{"requestId": id, "path": "none"}})
	s.want(200, call{op: "getTranscript", path: object{"requestId": id}})
}

func (s *session) chat() {
	s.want(200, call{op: "sendAssistantMessage", body: object{
		"sessionId": "s3", "userId": "u1", "content": "Which colour?", "messageType": "hitl_checkpoint",
		"props": object{"checkpoint_type": "information_request", "run_id": "outside-1"},
	}})
	s.want(200, call{op: "sendUserMessage", body: object{"sessionId": "s3", "userId": "u1", "content": "blue"}})
	s.want(200, call{op: "listMessages", path: object{"sessionId": "s3"}, query: url.Values{"userId": {"u1"}}})
	s.want(404, call{op: "listMessages", path: object{"sessionId": "no-such"}})
	form := url.Values{"text": {"help"}, "team_id": {"T1"}, "user_id": {"U1"}, "user_name": {"ann"}}.Encode()
	s.want(200, call{op: "slackCommand", body: form, header: signedBySlack(form)})
	s.want(401, call{op: "slackCommand", body: form})
	status, _ := s.send(call{op: "connect", query: url.Values{"userId": {"u1"}}, header: map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
	}})
	if status != http.StatusSwitchingProtocols {
		s.Errorf("a handshake was answered %d", status)
	}
	s.want(400, call{op: "connect", query: url.Values{"userId": {"u1"}}})
}

// endings lets jobs end in the other ways.
func (s *session) endings() {
	id, sign := s.manual("meal-suggestions", meals)
	fail := maps.Clone(sign)
	maps.Copy(fail, object{"error": "There is no shop nearby"})
	s.want(200, call{op: "reportFailure", body: fail})
	s.until(id, "failed")
	s.want(200, call{op: "retryJob", path: object{"requestId": id}})
	s.until(id, "running")
	s.want(200, call{op: "changeJobs", body: object{"action": "cancel", "requestIds": []string{id, "req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa"}}})
	s.want(400, call{op: "changeJobs", body: object{"action": "approve", "requestIds": []string{id}}})
}

func (s *session) reads() {
	for _, query := range []url.Values{
		nil,
		{"limit": {"2"}},
		{"status": {"received"}},
		{"fields": {"requestId,status"}},
		{"fields": {"-result,-input"}},
		{"kind": {"media"}, "userId": {"u1"}},
		{"tag": {"nightly"}, "q": {"lentil soup"}, "createdUntil": {"2026-03-02T18:00:00Z"}},
	} {
		s.want(200, call{op: "listJobs", query: query})
	}
	s.want(400, call{op: "listJobs", query: url.Values{"limit": {"0"}}})
	s.want(200, call{op: "getStatistics"})
	s.want(200, call{op: "getStatistics", query: url.Values{"userId": {"u1"}}})
	s.want(200, call{op: "listCheckpoints", query: url.Values{"status": {"answered"}}})
}

// writing has Claude write until a person interrupts it. It returns the listener that has
// received the text.
func (s *session) writing() *listener {
	cli := filepath.Join(s.TempDir(), "claude")
	harness.WriteProgram(s, cli, "#!/bin/bash\n"+harness.AnswersVersion+`
cat > .prompt
echo '{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}'
while sleep 0.05; do echo '{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}}'; done
`)
	on := *s
	on.server = harness.Start(s, harness.Vars{"CLAUDE_BIN": cli}, nil)
	created := on.want(202, call{op: "createJob", body: object{"kind": "meal-suggestions", "userId": "u1", "input": meals}})
	id := created["requestId"].(string)
	l := on.listen("userId=u1&text=true&requestId=" + id)
	<-l.text
	on.want(200, call{op: "interruptJob", path: object{"requestId": id}, body: object{"message": "Stop", "turn": true}})
	on.want(200, call{op: "cancelJob", path: object{"requestId": id}})
	on.want(409, call{op: "interruptJob", path: object{"requestId": id}})
	return l
}

// listener receives all events, and checks each against the contract.
type listener struct {
	conn *websocket.Conn
	// text is closed when a piece of text has arrived.
	text     chan struct{}
	document *document
	done     sync.WaitGroup
	seen     map[string]bool
	faults   []string
	recorded map[string]any
}

func (s *session) listen(query string) *listener {
	s.Helper()
	conn := harness.Dial(s, s.server.URL, query, nil)
	l := &listener{conn: conn, text: make(chan struct{}), document: readDocument(s.T, "asyncapi.json", harness.Text(s, s.server.URL+"/asyncapi.json")), seen: map[string]bool{}, recorded: map[string]any{}}
	l.done.Go(l.read)
	for _, frame := range []string{
		`{"type":"ping"}`, `{"type":"subscribe","requestId":"req_00_x"}`, `{"type":"unsubscribe","requestId":"req_00_x"}`, `{"type":"reply","checkpointId":"chk_00_x","text":"x"}`, `{"type":"none"}`,
	} {
		must.OK(s, conn.WriteMessage(websocket.TextMessage, []byte(frame)))
	}
	return l
}

// message returns the name of the contract's message for a frame, and its payload.
func (l *listener) message(frame object) (name string, payload any) {
	messages := l.document.root["channels"].(object)["events"].(object)["messages"].(object)
	event, _ := frame["event"].(string)
	for name, m := range messages {
		title := m.(object)["title"].(string)
		of := l.document.resolve(m.(object)["payload"])
		isEvent := event != "" && event != "resync" && strings.HasSuffix(event, ":"+title) && of["properties"].(object)["event"] != nil
		isFrame := event == "" && strings.HasPrefix(name, "Frame") && frame["type"] == title || event == "resync" && title == "resync"
		if isFrame || isEvent && l.document.fault(m.(object)["payload"], frame) == "" {
			return name, m.(object)["payload"]
		}
	}
	return "", nil
}

func (l *listener) read() {
	for {
		_, text, err := l.conn.ReadMessage()
		if err != nil {
			return
		}
		frame, _ := decodedAny(text).(object)
		name, payload := l.message(frame)
		if name == "" {
			l.faults = append(l.faults, "this is no message of the contract, or breaks its schema: "+string(text))
			continue
		}
		if fault := l.document.fault(payload, frame); fault != "" {
			l.faults = append(l.faults, string(text)+": "+fault)
		}
		if !l.seen[name] {
			l.recorded[name] = frame
			if name == "FrameText" {
				close(l.text)
			}
		}
		l.seen[name] = true
	}
}

// byServer returns the messages that a server sends.
func (l *listener) byServer() []string {
	var names []string
	sent := l.document.root["operations"].(object)["sendEvents"].(object)["messages"].([]any)
	for _, ref := range sent {
		path := strings.Split(ref.(object)["$ref"].(string), "/")
		names = append(names, path[len(path)-1])
	}
	return names
}

// close closes a listener and others, and checks that together they have received every
// message of the contract.
func (l *listener) close(s *session, others ...*listener) {
	s.Helper()
	for _, one := range append([]*listener{l}, others...) { // l.seen is l's alone until it is closed
		one.conn.Close()
		one.done.Wait()
		for _, fault := range one.faults {
			s.Error(fault)
		}
		maps.Copy(l.seen, one.seen)
	}
	for _, name := range l.byServer() {
		if !l.seen[name] && name != "FrameResync" { // sent only after a loss of events
			s.Errorf("no %s came: make the test do it", name)
		}
	}
}

// approve approves a job's question.
func (s *session) approve(id string) {
	asked := s.until(id, "awaiting_approval")["checkpoint"].(object)["id"]
	s.want(200, call{op: "approveJob", path: object{"requestId": id}, body: object{"checkpointId": asked}})
}
