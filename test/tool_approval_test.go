package test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/sample"
)

// carefulKind asks before calls of Bash, except harmless ones.
func carefulKind(t testing.TB) string {
	t.Helper()
	return kindsDir(t, "careful.md", `---
tools:
  ask: [Bash]
  allow: ['Bash(true *)']
  deny: ['Bash(rm *)']
---
Be careful.`)
}

// playCommands plays a Claude that runs commands one after the other, then submits its
// result; the outcomes of the commands are in its prompts.
func playCommands(commands ...string) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Reply {
		done := len(r.Results())
		if done < len(commands) {
			return messagesapi.Bash(commands[done])
		}
		return inOrder(done-len(commands), posts(r.Text(), "result.json", object{"done": true})...)
	}
}

func touched(t testing.TB) (file string, exists func() bool) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "touched")
	return file, func() bool {
		_, err := os.Stat(file)
		return err == nil
	}
}

func TestToolCallWaitsForTheUser(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 2, map[string]struct {
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
			file, exists := touched(t)
			other, otherExists := touched(t)
			n, api := realClaude(t, vars{
				"HOLD": c.hold, "PROMPTS_DIR": carefulKind(t), "DATA_DIR": t.TempDir(), "LISTEN_ADDR": "127.0.0.1:" + freePort(t),
			}, playCommands("touch "+file))
			id := n.create(t, object{"kind": "careful", "input": object{}, "userId": "u1", "sessionId": "s1"})
			q := n.openCheckpoint(t, id, "awaiting_approval")
			if q["type"] != "tool_approval" || !strings.Contains(q["message"].(string), "touch "+file) {
				t.Errorf("the user was asked %v", q)
			}
			if c.hold == "1s" { // and the server is killed
				eventually(t, "the process to end", func() bool { return len(processesIn(n.Dir)) == 0 })
				n = n.again(t)
			}
			if exists() {
				t.Fatal("the command ran before it was allowed")
			}
			reply, denied := object{"decision": c.decision}, c.decision == "deny"
			if c.edited {
				reply["values"] = object{"command": "touch " + other}
			}
			n.reply(t, q["id"].(string), reply)
			n.await(t, id, "received")
			must.Equal(t, !denied && !c.edited, exists(), "the command has run")
			must.Equal(t, c.edited, otherExists(), "the edited command has run")
			eventually(t, "the chat to tell of the end", func() bool { return strings.Contains(mustJSON(n.messages(t, "s1", "")), "tool-result") })
			checkParts(t, n.messages(t, "s1", ""), map[bool]string{false: "output-available", true: "output-denied"}[denied])
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
	file, exists := touched(t)
	for name, status := range map[string]int{"an error": 500, "a wrong signature": 403, "no answer": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deaf := startDeaf(t, status)
			n, api := realClaude(t, vars{"PROMPTS_DIR": carefulKind(t), "CALLBACK_BASE_URL": deaf}, func(r messagesapi.Request) messagesapi.Reply {
				if len(r.Results()) == 0 {
					return messagesapi.Bash("touch " + file)
				}
				return messagesapi.Say("I could not.")
			})
			id := n.create(t, object{"kind": "careful", "input": object{}, "userId": "u1"})
			eventually(t, "Claude to be refused", func() bool {
				requests := api.Requests()
				return len(requests) > 1 && len(requests[1].Results()) > 0
			})
			n.want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
			if result := api.Requests()[1].Results()[0]; !result.IsError || exists() {
				t.Errorf("the command ended with %v, and has run: %v", result, exists())
			}
		})
	}
}

func TestParallelToolCallsAreDecidedOneByOne(t *testing.T) {
	t.Parallel()
	one, oneExists := touched(t)
	two, twoExists := touched(t)
	for name, hold := range sample.Cases(t, 1, map[string]string{"held": "60s", "parked": "1s"}) {
		t.Run(name, func(t *testing.T) {
			n, api := realClaude(t, vars{"HOLD": hold, "PROMPTS_DIR": carefulKind(t)}, func(r messagesapi.Request) messagesapi.Reply {
				if len(r.Results()) == 0 {
					both := messagesapi.Bash("touch " + one)
					both.Tools = append(both.Tools, messagesapi.Bash("touch "+two).Tools...)
					return both
				}
				return messagesapi.Say("Done.")
			})
			id := n.create(t, object{"kind": "careful", "input": object{}, "userId": "u1"})
			n.openCheckpoint(t, id, "awaiting_approval")
			if name == "parked" {
				eventually(t, "the process to end", func() bool { return len(processesIn(n.Dir)) == 0 })
			}
			if oneExists() || twoExists() {
				t.Error("a command ran before it was allowed")
			}
			eventually(t, "Claude to be told", func() bool {
				n.do(t, "POST", "/api/jobs/"+id+"/reject", nil) // as often as it asks
				return len(api.Requests()) > 1
			})
			n.want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
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
		return "http://127.0.0.1:" + freePort(t)
	}
	return startHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":"no"}`)
	}))
}

func TestWhatWasSaidBeforeAToolsDecisionReachesClaude(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for _, decision := range sample.Of(t, 1, []string{"yes", "no"}) {
		for name, hold := range map[string]string{"held": "60s", "parked": "1s"} {
			t.Run(name+" "+decision, func(t *testing.T) {
				t.Parallel()
				file, _ := touched(t)
				n, api := realClaude(t, vars{"HOLD": hold, "PROMPTS_DIR": carefulKind(t)}, playCommands("touch "+file))
				id := n.create(t, object{"kind": "careful", "input": object{}, "userId": "u1", "sessionId": "s1"})
				n.openCheckpoint(t, id, "awaiting_approval")
				if name == "parked" {
					eventually(t, "the process to end", func() bool { return len(processesIn(n.Dir)) == 0 })
				}
				n.say(t, "s1", "yes but only the replica")
				n.say(t, "s1", decision)
				n.await(t, id, "received")
				requests := api.Requests()
				must.Contain(t, mustJSON(requests[len(requests)-1].Messages), "yes but only the replica", "Claude was told")
			})
		}
	}
}
