package people

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"ringback/test/rig"
)

func TestPartsThatAreNone(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	for name, c := range map[string]struct {
		body object
		path string
	}{
		"no call":        {object{"parts": []any{object{"type": "tool-result", "output": "approved"}}}, "/parts/0/toolCallId"},
		"no output":      {object{"parts": []any{object{"type": "tool-result", "toolCallId": "x"}}}, "/parts/0/output"},
		"no text":        {object{"parts": []any{object{"type": "tool-result", "toolCallId": "x", "output": 5}}}, "/parts/0/output"},
		"unknown type":   {object{"parts": []any{object{"type": "video"}}}, "/parts/0/type"},
		"no parts":       {object{"role": "tool", "content": "yes"}, "/parts"},
		"no array":       {object{"parts": "approved"}, "/parts"},
		"another's role": {object{"role": "assistant", "content": "yes"}, "/parts"},
		"nothing":        {object{"parts": []any{}}, "/content"},
	} {
		body := rig.With(object{"sessionId": "s1", "userId": "u1"}, c.body)
		if status, refused := n.Do(t, "POST", "/to-llm", body); status != 400 || rig.Details(t, refused)[c.path] == "" {
			t.Errorf("%s: answered %d %v", name, status, refused)
		}
	}
}

// Every session that can be created can be read.
func TestNamesThatCallersChoose(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	making := map[string]func(session string) (int, object){
		"/from-llm": func(session string) (int, object) {
			return n.Do(t, "POST", "/from-llm", object{"sessionId": session, "userId": "u1", "content": "Hello"})
		},
		"/to-llm": func(session string) (int, object) {
			return n.Do(t, "POST", "/to-llm", object{"sessionId": session, "userId": "u1", "content": "Hello"})
		},
		"/api/jobs": func(session string) (int, object) {
			return n.Do(t, "POST", "/api/jobs", object{"sessionId": session, "userId": "u1", "kind": "meal-suggestions", "input": rig.MealInput(), "options": object{"simulate": "manual"}})
		},
		"/hitl/runs": func(session string) (int, object) {
			return n.Do(t, "POST", "/hitl/runs", object{"session_id": session, "user_id": "u1", "prompt": "a lake"})
		},
	}
	for endpoint, create := range making {
		for _, session := range []string{"session-123", "a b", "a@b.c|d+e:f;g&h=i", "日本", "a{b}", "...", "~", strings.Repeat("é", 256)} {
			if status, answer := create(session); status/100 != 2 {
				t.Errorf("%s refuses the session %q: %d %v", endpoint, session, status, answer)
				continue
			}
			path := "/api/sessions/" + url.PathEscape(session) + "/messages"
			if status, answer := n.Do(t, "GET", path, nil); status != 200 {
				t.Errorf("the session %q of %s cannot be read: %d %v", session, endpoint, status, answer)
			}
		}
		for _, session := range []string{"a/b", "../x", "..", ".", `a\b`, "a?b", "a#b", "a%2Fb", " a", "a ", "a\nb", "a\u0000b", "a\u200bb", "a\u202eb", "a\u0085b", strings.Repeat("a", 257)} {
			status, refused := create(session)
			message := fmt.Sprint(rig.Details(t, refused)["/sessionId"], rig.Details(t, refused)["/session_id"])
			if status != 400 || !strings.Contains(message, "visible characters") {
				t.Errorf("%s takes the session %q: %d %v", endpoint, session, status, refused)
			}
		}
	}
	for field, body := range map[string]object{
		"/userId":         {"userId": "a\u200bb"},
		"/idempotencyKey": {"idempotencyKey": "a\u0000b"},
	} {
		status, refused := n.Do(t, "POST", "/api/jobs", rig.With(body, object{"kind": "meal-suggestions", "input": rig.MealInput()}))
		if status != 400 || rig.Details(t, refused)[field] == "" {
			t.Errorf("%s was answered %d %v", field, status, refused)
		}
	}
	if status, refused := n.Do(t, "POST", "/to-llm", object{"sessionId": "s1", "userId": "u1", "content": "Hello", "logId": "a\u200bb"}); status != 400 || rig.Details(t, refused)["/logId"] == "" {
		t.Errorf("a logId was answered %d %v", status, refused)
	}
}
