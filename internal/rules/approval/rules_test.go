package approval_test

import (
	"testing"

	"ringback/internal/rules/approval"
	"ringback/test/must"
)

func TestVerdictOnToolCalls(t *testing.T) {
	t.Parallel()
	policy := approval.ToolRules{
		Allow: []string{"Bash(git status)", "Bash(ls *)", "Bash(go test *)", "Write(docs/**)", "WebFetch(domain:*.example.com)", "Read"},
		Ask:   []string{"Bash", "Bash(git push *)", "Write", "WebFetch"},
		Deny:  []string{"Bash(rm -rf *)", "Read(**/.env)", "mcp__db__drop"},
	}
	bash := func(command string) approval.ToolCall {
		return approval.ToolCall{Name: "Bash", Input: map[string]any{"command": command}, Dir: "/work"}
	}
	file := func(tool, path string) approval.ToolCall {
		return approval.ToolCall{Name: tool, Input: map[string]any{"file_path": path}, Dir: "/work"}
	}
	fetch := func(url string) approval.ToolCall {
		return approval.ToolCall{Name: "WebFetch", Input: map[string]any{"url": url}}
	}
	for _, c := range []struct {
		call approval.ToolCall
		want approval.Verdict
	}{
		{bash("git status"), approval.Allow},
		{bash("ls"), approval.Allow},
		{bash("ls -la src"), approval.Allow},
		{bash(`ls "a b" 2>/dev/null`), approval.Allow},
		{bash("ls && go test ./..."), approval.Ask}, // each matches a rule, no rule matches both
		{bash("ls > files"), approval.Ask},
		{bash("ls; git push"), approval.Ask},
		{bash("lsof"), approval.Ask},
		{bash("ls $(git push)"), approval.Ask},
		{bash("ls `id`"), approval.Ask},
		{bash("ls $HOME"), approval.Ask},
		{bash("ls | sh"), approval.Ask},
		{bash("PATH=. ls"), approval.Ask},
		{bash("git push origin main"), approval.Ask},
		{bash("/usr/bin/git push"), approval.Ask},
		{bash("g\\it push"), approval.Ask},
		{bash("rm -rf /"), approval.Deny},
		{bash("ls && rm -rf /"), approval.Deny},
		{bash("r'm' -rf /"), approval.Deny},
		{bash("sh -c 'rm -rf /'"), approval.Ask}, // it cannot be seen what it does
		{bash("{rm,-rf,/}"), approval.Ask},
		{bash("r? -rf /"), approval.Ask},
		{bash("if ("), approval.Ask},
		{bash(""), approval.Ask},
		{file("Write", "docs/a/b.md"), approval.Allow},
		{file("Write", "/work/docs/a.md"), approval.Allow},
		{file("Write", "docs/../main.go"), approval.Ask},
		{file("Write", "../work/docs/a.md"), approval.Allow},
		{file("Write", "../docs/a.md"), approval.Ask},
		{file("Write", "main.go"), approval.Ask},
		{file("Edit", "main.go"), approval.Ask}, // one editor stands for all
		{file("Edit", "../main.go"), approval.Ask},
		{file("Read", "main.go"), approval.Allow},
		{file("Read", "config/.env"), approval.Deny},
		{fetch("https://docs.example.com/x"), approval.Allow},
		{fetch("https://docs.example.com.evil.org/"), approval.Ask},
		{fetch("https://evil.org/?docs.example.com"), approval.Ask},
		{approval.ToolCall{Name: "mcp__db__drop"}, approval.Deny},
		{approval.ToolCall{Name: "mcp__db__read"}, approval.NoOpinion},
	} {
		got, rule := verdictOf(policy, c.call)
		must.Equal(t, c.want, got, c.call.Name, c.call.Input, "by", rule)
	}
}
