package kind_test

import (
	"testing"

	"ringback/internal/kind"
)

func TestVerdictOnToolCalls(t *testing.T) {
	t.Parallel()
	policy := kind.ToolPolicy{
		Allow: []string{"Bash(git status)", "Bash(ls *)", "Bash(go test *)", "Write(docs/**)", "WebFetch(domain:*.example.com)", "Read"},
		Ask:   []string{"Bash", "Bash(git push *)", "Write", "WebFetch"},
		Deny:  []string{"Bash(rm -rf *)", "Read(**/.env)", "mcp__db__drop"},
	}
	bash := func(command string) kind.ToolCall {
		return kind.ToolCall{Name: "Bash", Input: map[string]any{"command": command}, Dir: "/work"}
	}
	file := func(tool, path string) kind.ToolCall {
		return kind.ToolCall{Name: tool, Input: map[string]any{"file_path": path}, Dir: "/work"}
	}
	fetch := func(url string) kind.ToolCall {
		return kind.ToolCall{Name: "WebFetch", Input: map[string]any{"url": url}}
	}
	for _, c := range []struct {
		call kind.ToolCall
		want kind.Verdict
	}{
		{bash("git status"), kind.AllowCall},
		{bash("ls"), kind.AllowCall},
		{bash("ls -la src"), kind.AllowCall},
		{bash(`ls "a b" 2>/dev/null`), kind.AllowCall},
		{bash("ls && go test ./..."), kind.AskFirst}, // each matches a rule, no rule matches both
		{bash("ls > files"), kind.AskFirst},
		{bash("ls; git push"), kind.AskFirst},
		{bash("lsof"), kind.AskFirst},
		{bash("ls $(git push)"), kind.AskFirst},
		{bash("ls `id`"), kind.AskFirst},
		{bash("ls $HOME"), kind.AskFirst},
		{bash("ls | sh"), kind.AskFirst},
		{bash("PATH=. ls"), kind.AskFirst},
		{bash("git push origin main"), kind.AskFirst},
		{bash("/usr/bin/git push"), kind.AskFirst},
		{bash("g\\it push"), kind.AskFirst},
		{bash("rm -rf /"), kind.DenyCall},
		{bash("ls && rm -rf /"), kind.DenyCall},
		{bash("r'm' -rf /"), kind.DenyCall},
		{bash("sh -c 'rm -rf /'"), kind.AskFirst}, // it cannot be seen what it does
		{bash("{rm,-rf,/}"), kind.AskFirst},
		{bash("r? -rf /"), kind.AskFirst},
		{bash("if ("), kind.AskFirst},
		{bash(""), kind.AskFirst},
		{file("Write", "docs/a/b.md"), kind.AllowCall},
		{file("Write", "/work/docs/a.md"), kind.AllowCall},
		{file("Write", "docs/../main.go"), kind.AskFirst},
		{file("Write", "../work/docs/a.md"), kind.AllowCall},
		{file("Write", "../docs/a.md"), kind.AskFirst},
		{file("Write", "main.go"), kind.AskFirst},
		{file("Edit", "main.go"), kind.AllowCall},
		{file("Edit", "../main.go"), kind.NoOpinion},
		{file("Read", "main.go"), kind.AllowCall},
		{file("Read", "config/.env"), kind.DenyCall},
		{fetch("https://docs.example.com/x"), kind.AllowCall},
		{fetch("https://docs.example.com.evil.org/"), kind.AskFirst},
		{fetch("https://evil.org/?docs.example.com"), kind.AskFirst},
		{kind.ToolCall{Name: "mcp__db__drop"}, kind.DenyCall},
		{kind.ToolCall{Name: "mcp__db__read"}, kind.NoOpinion},
	} {
		if got, rule := policy.Verdict(c.call); got != c.want {
			t.Errorf("%s %v: %q by %s, want %q", c.call.Name, c.call.Input, got, rule, c.want)
		}
	}
}
