package test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readWithAISDK passes messages through the adapter of examples/ai-sdk, and has the
// AI SDK itself check what comes out and make a prompt of it.
func readWithAISDK(t *testing.T, messages []object) []object {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(script, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script)
	input, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// toolStates are the states of all tool parts, in order.
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

func TestAISDKReadsOurMessages(t *testing.T) {
	t.Parallel()
	one, _ := touched(t)
	n, _ := realClaude(t, vars{"HOLD": "60s", "PROMPTS_DIR": carefulKind(t)}, playCommands("touch "+one, "touch "+one+"2", "true harmless", "rm "+one))
	id := n.create(t, object{"kind": "careful", "input": object{}, "userId": "u1", "sessionId": "s1"})
	first := n.openCheckpoint(t, id, "awaiting_approval")
	waiting := readWithAISDK(t, n.messages(t, "s1", ""))
	last := waiting[len(waiting)-1]["parts"].([]any)
	if part := last[len(last)-1].(object); part["state"] != "approval-requested" || part["approval"].(object)["id"] != first["id"] {
		t.Errorf("the call that waits is shown as %v", part)
	}
	n.reply(t, first["id"].(string), object{"decision": "approve"})
	eventually(t, "the second question", func() bool {
		c, _ := n.want(t, 200, "GET", "/api/jobs/"+id, nil)["checkpoint"].(object)
		return c != nil && c["id"] != first["id"]
	})
	n.reply(t, n.openCheckpoint(t, id, "awaiting_approval")["id"].(string), object{"decision": "deny"})
	n.await(t, id, "received")
	want := []string{"Bash output-available", "Bash output-denied", "Bash output-available", "Bash output-error"}
	var got []string
	eventually(t, "the chat to tell of all calls", func() bool {
		got = toolStates(readWithAISDK(t, n.messages(t, "s1", "")))
		return cmp.Equal(want, got)
	})
}
