package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/web/api"
	"ringback/test/must"
)

// toolQuestion asks for the approval of a tool call, which may be a standing one.
var toolQuestion = checkpoint.Request{
	Type: job.ToolApproval, Message: "Allow it?", Props: json.RawMessage(`{"kind": "careful", "rule": "Bash"}`), ApprovalKey: "tool:Bash:1", ToolCallID: "toolu_1",
}

func TestWhatADecisionIsAnswered(t *testing.T) {
	t.Parallel()
	confirmation := checkpoint.Request{Type: job.Confirmation, Message: "Deploy?", ApprovalKey: "action:deploy:1"}
	information := checkpoint.Request{Type: job.InformationRequest, Message: "Which colour?"}
	for name, row := range map[string]struct {
		asked  *checkpoint.Request
		path   string
		body   any
		status int
		// at is the path of a detail.
		at string
	}{
		"approved":                          {&confirmation, "approve", nil, 200, ""},
		"refused":                           {&confirmation, "reject", object{"reason": "Not on a Friday"}, 200, ""},
		"where nothing is asked":            {nil, "approve", nil, 409, ""},
		"where something else is asked":     {&information, "approve", nil, 409, ""},
		"without a word of what is allowed": {&confirmation, "approve", object{}, 400, "/checkpointId"},
		"with a reason alone":               {&confirmation, "approve", object{"reason": "x"}, 400, "/checkpointId"},
		"by an iteration, of no change":     {&confirmation, "approve", object{"iteration": 0}, 400, "/iteration"},
		"for a checkpoint of before":        {&confirmation, "approve", object{"checkpointId": "chk_06_x"}, 409, ""},
		"with a reason that is too long":    {&confirmation, "reject", object{"reason": strings.Repeat("x", 20_001)}, 400, "/reason"},
		"with a field that is none":         {&confirmation, "approve", object{"resaon": "x"}, 400, "/resaon"},
		"by a reply":                        {&confirmation, "reply", object{"decision": "approve"}, 200, ""},
		"by a reply in words":               {&confirmation, "reply", object{"text": "yes"}, 200, ""},
		"by a reply of nothing":             {&confirmation, "reply", object{}, 400, ""},
		"by a reply that is none":           {&confirmation, "reply", object{"decision": "maybe"}, 400, "/decision"},
		"a confirmation, for ever":          {&confirmation, "reply", object{"decision": "approve", "scope": "always"}, 400, "/scope"},
		"a tool, for ever":                  {&toolQuestion, "reply", object{"decision": "approve", "scope": "always"}, 200, ""},
		"a tool, for some other time":       {&toolQuestion, "reply", object{"decision": "approve", "scope": "daily"}, 400, "/scope"},
		"a confirmation, with new values":   {&confirmation, "reply", object{"decision": "approve", "values": object{"a": 1}}, 400, "/values"},
		"a question, with a decision":       {&information, "reply", object{"decision": "approve"}, 400, "/decision"},
		"values that are no object":         {&information, "reply", object{"values": "blue"}, 400, "/values"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, api.Options{})
			id := s.create("", "careful", "u1")
			path, body := "/api/jobs/"+string(id)+"/"+row.path, row.body
			if row.asked != nil {
				asked := s.ask(id, *row.asked)
				if row.path == "reply" {
					path = "/api/checkpoints/" + string(asked) + "/reply"
				}
				if body == nil {
					body = object{"checkpointId": asked}
				}
			}
			a := s.as("", "POST", path, body)
			if _, named := a.details()[row.at]; a.Status != row.status || row.at != "" && !named {
				t.Fatalf("answered %d %v, want %d with %s", a.Status, a.Body, row.status, row.at)
			}
			if title := a.Body["error"]; row.status == 400 && row.at != "/checkpointId" && title != "Invalid request" {
				t.Errorf("the refusal is headed %q", title)
			}
			if a.Status != http.StatusOK {
				return
			}
			s.wants(http.StatusConflict, "", "POST", path, body)
		})
	}
}

func TestLastingApprovals(t *testing.T) {
	t.Parallel()
	s := startServer(t, locked)
	mine, theirs := tokenOf(t, "u1"), tokenOf(t, "u2")
	asked := s.ask(s.create(mine, "careful", "u1"), toolQuestion)
	reply := "/api/checkpoints/" + string(asked) + "/reply"
	s.wants(http.StatusNotFound, theirs, "POST", reply, object{"decision": "approve", "scope": "always"})
	s.as(mine, "POST", reply, object{"decision": "approve", "scope": "always"})

	given := func(credential string) []any {
		list, _ := s.as(credential, "GET", "/api/approvals", nil).Body["approvals"].([]any)
		return list
	}
	must.Equal(t, 0, len(given(theirs)), "approvals of another user")
	list := given(mine)
	if len(list) != 1 {
		t.Fatalf("there are %v", list)
	}
	a, _ := list[0].(object)
	if a["kind"] != "careful" || a["rule"] != "Bash" || a["userId"] != "u1" || a["requestId"] != nil {
		t.Errorf("it is %v", a)
	}
	at := "/api/approvals/" + a["id"].(string)
	if a := s.as(theirs, "DELETE", at, nil); a.Status != http.StatusNotFound || len(given(mine)) != 1 {
		t.Errorf("another user's revocation was answered %d %v", a.Status, a.Body)
	}
	if a := s.as(mine, "DELETE", at, nil); a.Status != http.StatusOK || len(given(mine)) != 0 {
		t.Errorf("its revocation was answered %d %v", a.Status, a.Body)
	}
	s.wants(http.StatusNotFound, mine, "DELETE", at, nil)
}

func TestTheInbox(t *testing.T) {
	t.Parallel()
	s := startServer(t, locked)
	asked := s.ask(s.create(apiKey, "careful", "u1"), toolQuestion)
	for name, row := range map[string]struct {
		credential, query string
		want              int
	}{
		"all":                         {apiKey, "", 1},
		"my own":                      {tokenOf(t, "u1"), "?status=open", 1},
		"somebody else's":             {tokenOf(t, "u2"), "?status=open", 0},
		"of a type":                   {apiKey, "?type=tool_approval", 1},
		"of another type":             {apiKey, "?type=review", 0},
		"of another status":           {apiKey, "?status=answered", 0},
		"by the beginning of its id":  {apiKey, "?idPrefix=" + string(asked[:len(asked)-3]), 1},
		"by another beginning of ids": {apiKey, "?idPrefix=chk_zzzzzz", 0},
	} {
		t.Run(name, func(t *testing.T) {
			list, _ := s.as(row.credential, "GET", "/api/checkpoints"+row.query, nil).Body["checkpoints"].([]any)
			must.Equal(t, row.want, len(list), "it shows")
			counted := s.as(row.credential, "GET", "/api/checkpoints/count"+row.query, nil).Body["count"]
			if !strings.Contains(row.query, "idPrefix") && counted != float64(row.want) {
				t.Errorf("it counts %v, want %d", counted, row.want)
			}
		})
	}
	s.wants(http.StatusNotFound, tokenOf(t, "u2"), "GET", "/api/checkpoints/"+string(asked), nil)
}

// A refusal names the fields of the call that was made, and no other call.
func TestARefusalIsAboutItsCall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20_001)
	for name, row := range map[string]struct {
		path string
		body object
		at   string
	}{
		"a message that is too long for a reply": {"/to-llm", object{"sessionId": "s1", "userId": "u1", "content": long}, "/content"},
		"a question with an address that is none": {"/from-llm", object{
			"sessionId": "s1", "userId": "u1", "content": "Which?", "messageType": "hitl_checkpoint",
			"props": object{"checkpoint_type": "information_request", "resume_url": "ftp://a"},
		}, "/props/resume_url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, api.Options{})
			id := s.create("", "careful", "u1")
			s.ask(id, checkpoint.Request{Type: job.InformationRequest, Message: "Which colour?"})
			row.body["sessionId"] = must.Get(s.store.Get(t.Context(), id))(t).SessionID
			a := s.as("", "POST", row.path, row.body)
			if _, named := a.details()[row.at]; a.Status != 400 || a.Body["error"] != "Invalid request" || !named {
				t.Errorf("answered %d %v, want %s", a.Status, a.Body, row.at)
			}
		})
	}
}

// What a back end sends in a user's name is marked as such: in the chat, in the answer and in what Claude
// reads. A user's own messages are not.
func TestWhatAKeySendsIsNotTheUsers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ credential, by string }{
		"by its key":        {apiKey, "the key " + keyName(t) + " for u1"},
		"by the user's own": {tokenOf(t, "u1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, locked)
			id := s.create(row.credential, "careful", "u1")
			session := must.Get(s.store.Get(t.Context(), id))(t).SessionID
			say := func(text string) {
				t.Helper()
				s.wants(200, row.credential, "POST", "/to-llm", object{"sessionId": session, "userId": "u1", "content": text})
			}
			say("And quickly.")
			asked := s.ask(id, checkpoint.Request{Type: job.InformationRequest, Message: "Which colour?"})
			say("blue")
			messages, _ := s.as(row.credential, "GET", "/api/sessions/"+session+"/messages?userId=u1", nil).Body["messages"].([]any)
			mine := 0
			for _, m := range messages {
				if m := m.(object); m["sender"] == "user" {
					by, _ := m["by"].(string)
					must.Equal(t, row.by, by, m["content"])
					mine++
				}
			}
			must.Equal(t, 3, mine, "messages of the user: the request, and two")
			reply := must.Get(s.store.Checkpoints.Get(t.Context(), asked))(t).Reply
			must.Equal(t, row.by, reply.By, "the reply is")
		})
	}
}

// keyName returns the name of the key of these tests, as the audit log has it.
func keyName(t *testing.T) string {
	t.Helper()
	key, known, err := locked.Keys.Find(apiKey)
	must.OK(t, err)
	must.Equal(t, true, known)
	return key.Name
}
