package console

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// mint creates a user's token.
func mint(t *testing.T, s *harness.Server, user string) string {
	t.Helper()
	cmd := exec.Command(harness.Binary(), "token", "--user", user)
	for _, variable := range s.Cmd.Env {
		if strings.HasPrefix(variable, "JWT_SECRET=") {
			cmd.Env = append(os.Environ(), variable)
		}
	}
	out := must.Get(cmd.Output())(t)
	return strings.TrimSpace(string(out))
}

// carefulKind asks before calls of Bash.
const carefulKind = `---
description: Asks before it runs anything
tools:
  ask: [Bash]
---
Be careful.`

// ask makes a job wait for the approval of a tool call, and returns the question's id. The
// CLI waits until it is answered.
func ask(t testing.TB, s *harness.Server) (question string, answered <-chan struct{}) {
	t.Helper()
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "careful", "userId": "u1", "input": harness.Object{}})
	signature, _ := envelope["hmac"].(string)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = harness.Send(t, s.URL, harness.Request{
			Method: "POST", Path: "/api/claude/tool-calls", Header: map[string]string{"X-Ringback-Request-Id": id, "X-Ringback-Signature": signature},
			Body: harness.Object{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": "/", "tool_input": harness.Object{"command": "go vet ./..."}},
		})
	}()
	harness.Eventually(t, "the question", func() bool {
		open, _ := record(t, s, id)["checkpoint"].(harness.Object)
		question, _ = open["id"].(string)
		return question != ""
	})
	return question, done
}

// kinds writes kinds of the test's own, and returns their directory.
func kinds(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}
