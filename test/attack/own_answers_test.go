package attack

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// Without keys and without a sandbox, Claude may let others answer for it: the start, check
// and /readyz list the kinds that let it reach the API, and what to configure. With a key
// or a sandbox there is no warning.
func TestWhereClaudeCouldAnswerItselfIsSaid(t *testing.T) {
	t.Parallel()
	prompts := t.TempDir()
	for name, front := range map[string]struct {
		text    string
		reaches bool
	}{
		"shell":          {"allowed_tools: [Bash]", true},
		"shell-by-rule":  {"tools: {allow: ['Bash(go test *)']}", true},
		"shell-all":      {"tools: {allow: ['Bash(*)']}", true},
		"fetch":          {"allowed_tools: [WebFetch]", true},
		"fetch-a-domain": {"tools: {allow: ['WebFetch(domain:go.dev)'], ask: [Bash]}", true},
		"everything":     {"tools: {allow: ['*']}", true},
		"mcp":            {"tools: {allow: [mcp__github__create_issue]}", true},
		"mcp-all":        {"tools: {allow: ['mcp__github*']}", true},
		"helpers":        {"allowed_tools: [Task]", true},
		"verified":       {"workspace: {}\nverifiers:\n  - tests: go test ./...", true},
		"reader":         {"allowed_tools: [Read, Glob, Grep, WebSearch]", false},
		"asker":          {"tools: {ask: [Bash, WebFetch]}", false},
		"denier":         {"callback: mcp\ntools: {deny: [Bash], ask: ['*']}", false},
		"plain":          {"description: nothing", false},
	} {
		must.OK(t, os.WriteFile(filepath.Join(prompts, name+".md"), []byte("---\n"+front.text+"\n---\nDo it.\n"), 0o600))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := t.TempDir()
			must.OK(t, os.WriteFile(filepath.Join(own, name+".md"), []byte("---\n"+front.text+"\n---\nDo it.\n"), 0o600))
			if said := strings.Contains(checked(t, harness.Vars{"PROMPTS_DIR": own, "SANDBOX": "off"}), " "+name+" ("); said != front.reaches {
				t.Errorf("check says it: %t, want %t", said, front.reaches)
			}
		})
	}
	for name, env := range map[string]harness.Vars{
		"open": {"SANDBOX": "off"}, "a sandbox": {"SANDBOX": "require"}, "keys": {"SANDBOX": "off", "API_KEYS": backendKey}, "tokens": {"SANDBOX": "off", "JWT_SECRET": tokenSecret},
	} {
		t.Run("a server, "+name, func(t *testing.T) {
			t.Parallel()
			maps.Copy(env, harness.Vars{"PROMPTS_DIR": prompts})
			s := harness.Start(t, env, nil)
			_, ready := harness.Send(t, s.OperatorURL, harness.Request{Method: "GET", Path: "/readyz"})
			for where, text := range map[string]string{"the start": s.Log.String(), "/readyz": fmt.Sprint(ready), "check": checked(t, env)} {
				if said := strings.Contains(text, "shell-by-rule (Bash(go test *))"); said != (name == "open") {
					t.Errorf("%s names the kinds: %t\n%s", where, said, text)
				}
				if name == "open" && !strings.Contains(text, "set API_KEYS, API_KEYS_FILE or JWT_SECRET") {
					t.Errorf("%s does not say what to set", where)
				}
			}
		})
	}
}

// checked returns the output of ringback check.
func checked(t *testing.T, env harness.Vars) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Binary(), "check")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CLAUDE_BIN=simulate", "GORACE=halt_on_error=1 exitcode=66"}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("check ended with %v:\n%s", err, out)
	}
	return string(out)
}
