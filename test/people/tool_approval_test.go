package people

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

func TestToolCallWaitsForTheUser(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 1, map[string]struct {
		hold, decision string
		edited         bool
	}{
		"held, approved":   {"60s", "approve", false},
		"held, edited":     {"60s", "approve", true},
		"held, denied":     {"60s", "deny", false},
		"parked, approved": {"1s", "approve", false},
		"parked, denied":   {"1s", "deny", false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, exists := rig.Touched(t)
			other, otherExists := rig.Touched(t)
			n, api := rig.RealClaude(t, vars{
				"HOLD": c.hold, "PROMPTS_DIR": rig.CarefulKind(t), "DATA_DIR": t.TempDir(), "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t),
			}, rig.PlayCommands("touch "+file))
			id := n.Create(t, object{"kind": "careful", "input": object{}, "userId": "u1", "sessionId": "s1"})
			q := n.OpenCheckpoint(t, id, "awaiting_approval")
			if q["type"] != "tool_approval" || !strings.Contains(q["message"].(string), "touch "+file) {
				t.Errorf("the user was asked %v", q)
			}
			if c.hold == "1s" { // and the server is killed
				must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
				n = n.Again(t)
			}
			if exists() {
				t.Fatal("the command ran before it was allowed")
			}
			reply, denied := object{"decision": c.decision}, c.decision == "deny"
			if c.edited {
				reply["values"] = object{"command": "touch " + other}
			}
			n.Reply(t, q["id"].(string), reply)
			n.Await(t, id, "received")
			must.Equal(t, !denied && !c.edited, exists(), "the command has run")
			must.Equal(t, c.edited, otherExists(), "the edited command has run")
			must.Eventually(t, "the chat to tell of the end", func() bool { return strings.Contains(rig.JSON(n.Messages(t, "s1", "")), "tool-result") })
			checkParts(t, n.Messages(t, "s1", ""), map[bool]string{false: "output-available", true: "output-denied"}[denied])
			if r := api.Requests(); denied && !strings.Contains(r[len(r)-1].Results()[0].Content, "The user denied this.") {
				t.Errorf("Claude was told %v", r[len(r)-1].Results()[0])
			}
		})
	}
}

// checkParts checks the parts of one tool call in a chat, as described in docs/chat.md.
func checkParts(t *testing.T, all []object, want string) {
	t.Helper()
	var calls int
	var ended bool
	for _, m := range all {
		for _, p := range m["parts"].([]any) {
			part := p.(object)
			switch part["type"] {
			case "tool-call":
				calls++
				if part["state"] != want || part["toolName"] != "Bash" || part["toolCallId"] == "" || part["input"] == nil {
					t.Errorf("the call is shown as %v", part)
				}
			case "tool-result":
				ended = true
				if calls == 0 || part["state"] != want || part["toolName"] != "Bash" {
					t.Errorf("the call ended as %v", part)
				}
			}
		}
	}
	if calls != 1 || !ended {
		t.Errorf("the chat does not tell of the call: %v", all)
	}
}

// The hook fails closed: without our response, nothing runs.
func TestToolCallsAreRefusedWithoutTheServer(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	file, exists := rig.Touched(t)
	for name, status := range map[string]int{"an error": 500, "a wrong signature": 403, "no answer": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deaf := startDeaf(t, status)
			n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.CarefulKind(t), "CALLBACK_BASE_URL": deaf}, func(r messagesapi.Request) messagesapi.Reply {
				if len(r.Results()) == 0 {
					return messagesapi.Bash("touch " + file)
				}
				return messagesapi.Say("I could not.")
			})
			id := n.Create(t, object{"kind": "careful", "input": object{}, "userId": "u1"})
			must.Eventually(t, "Claude to be refused", func() bool {
				requests := api.Requests()
				return len(requests) > 1 && len(requests[1].Results()) > 0
			})
			n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
			if result := api.Requests()[1].Results()[0]; !result.IsError || exists() {
				t.Errorf("the command ended with %v, and has run: %v", result, exists())
			}
		})
	}
}

func TestParallelToolCallsAreDecidedOneByOne(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	one, oneExists := rig.Touched(t)
	two, twoExists := rig.Touched(t)
	for name, hold := range sample.Cases(t, 1, map[string]string{"held": "60s", "parked": "1s"}) {
		t.Run(name, func(t *testing.T) {
			n, api := rig.RealClaude(t, vars{"HOLD": hold, "PROMPTS_DIR": rig.CarefulKind(t)}, func(r messagesapi.Request) messagesapi.Reply {
				if len(r.Results()) == 0 {
					both := messagesapi.Bash("touch " + one)
					both.Tools = append(both.Tools, messagesapi.Bash("touch "+two).Tools...)
					return both
				}
				return messagesapi.Say("Done.")
			})
			id := n.Create(t, object{"kind": "careful", "input": object{}, "userId": "u1"})
			n.OpenCheckpoint(t, id, "awaiting_approval")
			if name == "parked" {
				must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
			}
			if oneExists() || twoExists() {
				t.Error("a command ran before it was allowed")
			}
			must.Eventually(t, "Claude to be told", func() bool {
				n.Do(t, "POST", "/api/jobs/"+id+"/reject", nil) // as often as it asks
				return len(api.Requests()) > 1
			})
			n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
			if oneExists() || twoExists() {
				t.Error("a command ran though it was denied")
			}
		})
	}
}

// startDeaf starts a server that responds to everything with a status, or not at all.
func startDeaf(t *testing.T, status int) string {
	t.Helper()
	if status == 0 {
		return "http://127.0.0.1:" + harness.FreePort(t)
	}
	return rig.StartHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":"no"}`)
	}))
}
