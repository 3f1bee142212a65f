package messagesapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringback/test/messagesapi"
	"ringback/test/must"
)

// post sends a body to the API and returns the response.
func post(t *testing.T, api *messagesapi.Server, path, body string) (int, string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL+path, strings.NewReader(body)))(t)
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	text := must.Get(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(text)
}

func TestOnlyTheConversationReachesTheScript(t *testing.T) {
	t.Parallel()
	const hello = `"messages":[{"role":"user","content":"hello"}]`
	for _, test := range []struct {
		name, path, body string
		status           int
		answer           string // part of it
		asked            int
	}{
		{"conversation", "/v1/messages?beta=true", `{"tools":[{"name":"Bash"}],` + hello + `}`, 200, `"text":"scripted"`, 1},
		{"streamed", "/v1/messages", `{"stream":true,"tools":[{"name":"Bash"}],` + hello + `}`, 200, "event: message_stop\n", 1},
		{"title", "/v1/messages", `{` + hello + `}`, 200, `"text":"ok"`, 0},
		{"counting tokens", "/v1/messages/count_tokens", `{"tools":[{"name":"Bash"}],` + hello + `}`, 200, `"input_tokens":`, 0},
		{"anything else", "/api/event_logging/batch", `not JSON`, 200, `{}`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			api := messagesapi.Start(t, messagesapi.Steps(messagesapi.Say("scripted")))
			status, answer := post(t, api, test.path, test.body)
			if status != test.status || !strings.Contains(answer, test.answer) {
				t.Errorf("answered %d %s, want %d and %s", status, answer, test.status, test.answer)
			}
			must.Equal(t, test.asked, len(api.Requests()), "the script was asked … times")
		})
	}
}

func TestScriptSeesTheConversation(t *testing.T) {
	t.Parallel()
	api := messagesapi.Start(t, messagesapi.Steps(messagesapi.Say("fine")))
	post(t, api, "/v1/messages", `{"model":"m","system":[{"type":"text","text":"Be "},{"type":"text","text":"brief."}],
		"tools":[{"name":"Bash"}],"metadata":{"user_id":"{\"session_id\":\"s1\"}"},"messages":[
		{"role":"user","content":"list"},
		{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"denied"}]}]}]}`)
	want := []messagesapi.Request{{
		Turn: 1, Conversation: "s1", Model: "m", System: "Be brief.", Tools: []string{"Bash"}, Schemas: map[string]json.RawMessage{"Bash": nil},
		Messages: []messagesapi.Message{
			{Role: "user", Parts: []messagesapi.Part{{Type: "text", Text: "list"}}},
			{Role: "assistant", Parts: []messagesapi.Part{{Type: "tool_use", Name: "Bash", Input: []byte(`{"command":"ls"}`)}}},
			{Role: "user", Parts: []messagesapi.Part{{Type: "tool_result", Content: "denied", IsError: true}}},
		},
	}}
	must.Equal(t, "", cmp.Diff(want, api.Requests(), cmpopts.IgnoreFields(messagesapi.Request{}, "Size")))
}
