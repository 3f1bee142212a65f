package people

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// readWithAISDK converts messages with the adapter of examples/ai-sdk, and lets the AI SDK
// itself validate the result and make a prompt of it.
func readWithAISDK(t *testing.T, messages []object) []object {
	t.Helper()
	root := must.Get(filepath.Abs("../.."))(t)
	if _, err := os.Stat(filepath.Join(root, ".tools/node_modules/ai")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the npm package ai is not installed: run make deps")
		}
		t.Skip("the npm package ai is not installed: run make deps")
	}
	script := filepath.Join(t.TempDir(), "read.mjs")
	source := `
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const ai = await import(pathToFileURL(createRequire("` + root + `/.tools/package.json").resolve("ai")));
const { toUIMessages } = await import("` + root + `/examples/ai-sdk/ui-messages.mjs");
const messages = await ai.validateUIMessages({ messages: toUIMessages(JSON.parse(readFileSync(0, "utf8"))) });
await ai.convertToModelMessages(messages);
console.log(JSON.stringify(messages));`
	must.OK(t, os.WriteFile(script, []byte(source), 0o600))
	cmd := exec.Command("node", script)
	input := must.Get(json.Marshal(messages))(t)
	stdin := must.Get(cmd.StdinPipe())(t)
	go func() {
		_, _ = stdin.Write(input)
		stdin.Close()
	}()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the AI SDK does not take our messages: %v\n%s\n%s", err, stderr.String(), input)
	}
	var read []object
	must.OK(t, json.Unmarshal(out, &read))
	return read
}

// toolStates returns the states of all tool parts, in order.
func toolStates(messages []object) []string {
	var states []string
	for _, m := range messages {
		for _, p := range m["parts"].([]any) {
			if part := p.(object); part["type"] == "dynamic-tool" {
				states = append(states, part["toolName"].(string)+" "+part["state"].(string))
			}
		}
	}
	return states
}

// approvalRequests returns the approval ids of the calls that wait for the user.
func approvalRequests(messages []object) []any {
	var ids []any
	for _, m := range messages {
		for _, p := range m["parts"].([]any) {
			if part := p.(object); part["state"] == "approval-requested" {
				ids = append(ids, part["approval"].(object)["id"])
			}
		}
	}
	return ids
}

// An action that waits for confirmation can be answered like a tool call.
func TestAISDKShowsConfirmations(t *testing.T) {
	t.Parallel()
	g := startGated(t, nil, "")
	g.Call(object{"name": "shop"}, false)
	asked := g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")["id"].(string)
	if got := approvalRequests(readWithAISDK(t, g.N.Messages(t, "s1", ""))); !cmp.Equal(got, []any{asked}) {
		t.Errorf("what waits is shown as %v", got)
	}
	g.N.Reply(t, asked, object{"decision": "deny"})
	denied := readWithAISDK(t, g.N.Messages(t, "s1", ""))
	if got := approvalRequests(denied); got != nil || !cmp.Equal(toolStates(denied), []string{"deploy output-denied"}) {
		t.Errorf("denied, it is shown as %v, and %v waits", toolStates(denied), got)
	}
}

func TestAISDKReadsOurMessages(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	one, _ := rig.Touched(t)
	n, _ := rig.RealClaude(t, vars{"HOLD": "60s", "PROMPTS_DIR": rig.CarefulKind(t)}, rig.PlayCommands("touch "+one, "touch "+one+"2", "true harmless", "rm "+one))
	id := n.Create(t, object{"kind": "careful", "input": object{}, "userId": "u1", "sessionId": "s1"})
	first := n.OpenCheckpoint(t, id, "awaiting_approval")
	if got := approvalRequests(readWithAISDK(t, n.Messages(t, "s1", ""))); !cmp.Equal(got, []any{first["id"]}) {
		t.Errorf("what waits is shown as %v", got)
	}
	n.Reply(t, first["id"].(string), object{"decision": "approve"})
	must.Eventually(t, "the second question", func() bool {
		c, _ := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["checkpoint"].(object)
		return c != nil && c["id"] != first["id"]
	})
	n.Reply(t, n.OpenCheckpoint(t, id, "awaiting_approval")["id"].(string), object{"decision": "deny"})
	n.Await(t, id, "received")
	want := []string{"Bash output-available", "Bash output-denied", "Bash output-available", "Bash output-error"}
	var got []string
	must.Eventually(t, "the chat to tell of all calls", func() bool {
		got = toolStates(readWithAISDK(t, n.Messages(t, "s1", "")))
		return cmp.Equal(want, got)
	})
}

// What another job in the session prints under the same id changes nothing of what a person is asked.
func TestAISDKKeepsTheCallsOfJobsApart(t *testing.T) {
	t.Parallel()
	message := func(id float64, requestID string, more object) object {
		body := object{"id": id, "sender": "assistant", "role": "assistant", "content": "", "requestId": requestID}
		maps.Copy(body, more)
		return body
	}
	call := func(command string) object {
		return object{"type": "tool-call", "toolCallId": "toolu_1", "toolName": "Bash", "state": "input-available", "input": object{"command": command}}
	}
	read := readWithAISDK(t, []object{
		message(1, "req_a", object{"checkpointId": "chk_a", "props": object{"awaiting_response": true}, "parts": []object{call("rm -rf data")}}),
		message(2, "req_b", object{"parts": []object{call("ls")}}),
		message(3, "req_b", object{"parts": []object{{"type": "tool-result", "toolCallId": "toolu_1", "toolName": "Bash", "state": "output-available", "output": "data"}}}),
	})
	if got := toolStates(read); !cmp.Equal(got, []string{"Bash approval-requested", "Bash output-available"}) {
		t.Errorf("the calls are %v", got)
	}
	must.Equal(t, "rm -rf data", read[0]["parts"].([]any)[0].(object)["input"].(object)["command"], "the question shows")
}
