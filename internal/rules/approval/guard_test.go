package approval_test

import (
	"fmt"
	"testing"

	"ringback/internal/rules/approval"
	"ringback/test/must"
)

// To ask or deny, one tool stands for all that do the same, under each of its names.
func TestOneToolStandsForAllThatDoTheSame(t *testing.T) {
	t.Parallel()
	type input = map[string]any
	for _, row := range []struct {
		rules, tool string
		input       input
		want        approval.Verdict
		permits     string
	}{
		{"ask Write(config/**)", "Edit", input{"file_path": "config/a"}, approval.Ask, "Edit(config/**)"},
		{"ask Write(config/**)", "Write", input{"file_path": "config/a"}, approval.Ask, "Edit(config/**)"},
		{"ask Write(config/**)", "NotebookEdit", input{"notebook_path": "config/a.ipynb"}, approval.Ask, "Edit(config/**)"},
		{"ask NotebookEdit(config/**)", "MultiEdit", input{"file_path": "config/a", "edits": []any{}}, approval.Ask, "Edit(config/**)"},
		{"deny MultiEdit", "Write", input{"file_path": "a"}, approval.Deny, "MultiEdit"},
		{"ask Write(config/**)", "Edit", input{"file_path": "src/a"}, approval.Allow, "in the working directory"},
		{"ask Write(config/**)", "Read", input{"file_path": "config/a"}, approval.Allow, "in the working directory"},
		{"allow Write(//tmp/**)", "Edit", input{"file_path": "/tmp/a"}, approval.NoOpinion, ""},
		{"allow Edit(//tmp/**)", "Write", input{"file_path": "/tmp/a"}, approval.Allow, "Edit(//tmp/**)"},
		{"deny Grep(secrets/**)", "Read", input{"file_path": "secrets/a"}, approval.Deny, "Grep(secrets/**)"},
		{"ask Glob(secrets/**)", "NotebookRead", input{"file_path": "secrets/a"}, approval.Ask, "Read(secrets/**)"},
		{"deny NotebookRead(secrets/**)", "Grep", input{"path": "secrets"}, approval.Deny, "NotebookRead(secrets/**)"},
		{"deny Grep", "Read", input{"file_path": "a"}, approval.Allow, "in the working directory"},
		{"ask Grep", "Grep", input{"pattern": "a"}, approval.Ask, "Grep"},
		{"allow Grep(//etc/**)", "Read", input{"file_path": "/etc/passwd"}, approval.NoOpinion, ""},
		{"allow Glob(src/**); ask Glob", "Glob", input{"pattern": "{/etc/*,x}", "path": "src"}, approval.Ask, "Glob"},
		{"allow Glob(src/**); ask Glob", "Glob", input{"pattern": "{,x}/etc/*", "path": "src"}, approval.Ask, "Glob"},
		{"allow Glob(src/**); ask Glob", "Glob", input{"pattern": "**/*.{go,d.ts}", "path": "src"}, approval.Allow, "Glob(src/**)"},

		{"deny Task", "Agent", input{"prompt": "x"}, approval.Deny, "Task"},
		{"ask Agent", "Task", input{"prompt": "x"}, approval.Ask, "Agent"},
		{"allow Task", "Agent", input{"prompt": "x"}, approval.Allow, "Task"},
		{"ask KillShell", "TaskStop", input{"task_id": "x"}, approval.Ask, "KillShell"},
		{"deny BashOutput", "TaskOutput", input{"task_id": "x"}, approval.Deny, "BashOutput"},
		{"deny Bash(rm *)", "Monitor", input{"command": "rm -r x"}, approval.Deny, "Bash(rm *)"},
		{"allow Monitor; ask Bash(git push *)", "Monitor", input{"command": "make"}, approval.Ask, `Monitor: {"command":"make"}`},
		{"allow Monitor; ask Bash(git push *)", "Monitor", input{"command": "git push"}, approval.Ask, `Monitor: {"command":"git push"}`},
		{"allow Monitor; ask Bash(git push *)", "Monitor", input{"command": "tail -f log"}, approval.Allow, "Monitor"},
		{"allow PowerShell; deny Bash(rm *)", "PowerShell", input{"command": "ls"}, approval.Ask, `PowerShell: {"command":"ls"}`},
		{"allow Monitor; deny Read(**/.env)", "Monitor", input{"command": "tail -f .env"}, approval.Ask, `Monitor: {"command":"tail -f .env"}`},
		{"allow Bash(ls *)", "Monitor", input{"command": "ls"}, approval.NoOpinion, ""},
		{"deny mcp__GitHub", "mcp__github__merge", input{}, approval.Deny, "mcp__GitHub"},
		{"ask mcp__my__server", "mcp__my__server__drop", input{}, approval.Ask, "mcp__my__server__drop: {}"},
		{"allow mcp__GitHub", "mcp__github__merge", input{}, approval.NoOpinion, ""},
		{"ask WebSearch(*secret*)", "WebSearch", input{"query": "SECRET"}, approval.Ask, "WebSearch(*secret*)"},
		{"allow WebSearch(rain)", "WebSearch", input{"query": "rain"}, approval.Allow, "WebSearch(rain)"},
		{`allow mcp__a__b({"x":1*})`, "mcp__a__b", input{"": `{"x":1}`, "query": `{"x":1}`}, approval.NoOpinion, ""},
	} {
		t.Run(fmt.Sprintf("%s/%s %v", row.rules, row.tool, row.input), func(t *testing.T) {
			t.Parallel()
			got := rulesOf(t, row.rules).Judge(approval.ToolCall{Name: row.tool, Input: row.input, Dir: "/work", PlainRepository: func() bool { return true }})
			must.Equal(t, row.want, got.Verdict)
			must.Equal(t, row.permits, got.Permits)
		})
	}
}

// The example of docs/permissions.md does what its author means.
func TestTheDocumentedExample(t *testing.T) {
	t.Parallel()
	const rules = "ask Bash; ask Write(config/**); ask WebFetch; allow Bash(go test ./...); allow WebFetch(domain:*.example.com); deny Bash(rm *); deny Read(**/.env)"
	checkVerdicts(t, []verdictRow{
		{rules, "Edit: config/prod.yml", approval.Ask, "every change of the configuration is asked for"},
		{rules, "Write: config/prod.yml", approval.Ask, "every change of the configuration is asked for"},
		{rules, "Bash: go test ./...", approval.Allow, "it is allowed word for word"},
		{rules, "Bash: go test ./... > config/prod.yml", approval.Ask, "it writes"},
		{rules, "Bash: make", approval.Ask, "every other command is asked for"},
		{rules, "Bash: rm x", approval.Deny, "it is denied"},
		{rules, "Read: a/.env", approval.Deny, "it is denied"},
		{rules, "WebFetch: https://docs.example.com/a", approval.Allow, "it is allowed"},
		{rules, "WebFetch: https://other.test/", approval.Ask, "every other address is asked for"},
		{rules, "Edit: src/a.go", approval.Allow, "it is in the working directory"},
	})
}

func TestToolsThatDoNotExist(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"Wrte": "Write", "WebFech": "WebFetch", "WebFech(domain:a.test)": "WebFetch", "write": "Write", "Bsah": "Bash", "BASH(rm *)": "Bash", "GREP": "Grep", "TodoWrit": "TodoWrite", "task": "Task", "killshell": "KillShell",
		"Edits(config/**)": "Edit", "Multiedit": "MultiEdit", "Notebook_Edit": "NotebookEdit", "MCP__db": "mcp__db",
	} {
		fault := fmt.Sprintf("%s: no tool has that name; did you mean %s?", rule, want)
		must.Equal(t, fault, (approval.ToolRules{Deny: []string{rule}}).Fault())
		must.Equal(t, fault, (approval.ToolRules{Ask: []string{rule}}).Fault())
		must.Equal(t, fault, (approval.ToolRules{Allow: []string{rule}}).NameFault())
	}
	later := approval.ToolRules{Allow: []string{"Teleport", "Read", "mcp__a__b"}, Ask: []string{"*"}, Deny: []string{"Ponder(*x*)", "Task", "BashOutput"}}
	must.Equal(t, "", later.Fault(), "a later version of the CLI may have such tools")
	must.Equal(t, "[Teleport Ponder(*x*)]", fmt.Sprint(later.Unknown()))
	for _, rule := range []string{
		"Agent(Explore)", "Skill(commit)", "mcp__db__drop(users)", `mcp__db__drop({"table":"a")`, "WebFetch(https://a.test/x/../y)", "WebFetch(https://a.test/%2e%2e/y)", "Bash(ls\u200b *)",
	} {
		if fault := (approval.ToolRules{Deny: []string{rule}}).Fault(); fault == "" {
			t.Errorf("%s: nothing is said of it", rule)
		}
	}
}

// Neither a server nor a proxy can be brought to serve what a rule denies by another spelling of
// its address.
func TestAddressesAsServersReadThem(t *testing.T) {
	t.Parallel()
	const denied, allowed = "allow WebFetch; deny WebFetch(https://example.com/admin/*)", "allow WebFetch(https://example.com/docs/*); ask WebFetch"
	var rows []verdictRow
	for _, address := range []string{
		"https://example.com/admin", "https://example.com/admin/", "https://example.com/admin/x", "https://example.com//admin/x", "https://example.com///admin//x", "https://example.com/admin;a/x", "https://example.com/;x/admin/y",
		"https://example.com/admin;a=b", "https://example.com/ADMIN/x", "https://example.com/%61dmin/x", "https://example.com/%2561dmin/x", "https://example.com/%25252561dmin/x", "https://example.com/admin%2fx", "https://example.com/%2fadmin/x",
		"https://example.com/admin%252fx", "https://example.com/admin%3bx/y", "https://example.com/admin./x", "https://example.com/admin%20/x", "https://example.com/admin?x=1", "https://example.com/admin#x", "http://example.com/admin/x",
		"https://example.com:8443/admin/x", "https://example.com./admin/x", "https://user:password@example.com/admin/x", "https://EXAMPLE.com/admin/x", "https://example.com/admin%09/x",
	} {
		rows = append(rows, verdictRow{denied, "WebFetch: " + address, approval.Deny, "it is what is denied"})
	}
	for _, address := range []string{
		"https://example.com/x/../admin/x", "https://example.com/./admin/x", "https://example.com/x/..;/admin/x", "https://example.com/x/%2e%2e/admin", "https://example.com/x/%252e%252e/admin", "https://example.com/x/%25252e%25252e/admin",
		"https://example.com/%5cadmin/x", "https://example.com/x%00/admin", "https://example.com/%EF%BD%81dmin/x", "https://example.com/adm%c4%b1n/x", "https://example.com/%c0%afadmin", "https://example.com/x%3f/admin", "https://example.com/x%23/../admin",
		"https://example.com/%2525252525252525252525252561dmin/x", "https://example.com/%zz/admin", "//example.com/admin/x", "https://example.com\\admin",
	} {
		rows = append(rows, verdictRow{denied, "WebFetch: " + address, approval.Ask, "servers read it differently"})
	}
	for _, address := range []string{"https://example.com/", "https://example.com", "https://example.com/administrator/x", "https://example.com/x/admin", "https://other.test/admin/x", "https://example.com/a?next=/admin/x", "https://other.test/%c3%a4"} {
		rows = append(rows, verdictRow{denied, "WebFetch: " + address, approval.Allow, "it is something else"})
	}
	for address, want := range map[string]approval.Verdict{
		"https://example.com/docs/a": approval.Allow, "https://example.com/docs/a?b=c": approval.Allow, "https://example.com/docs/b%C3%BC": approval.Allow, "https://example.com/docs/": approval.Allow,
		"https://example.com/docs": approval.Ask, "https://example.com//docs/a": approval.Ask, "https://example.com/DOCS/a": approval.Ask, "https://example.com/docs/%25252e%25252e/x": approval.Ask, "https://example.com:8443/docs/a": approval.Ask,
		"https://example.com./docs/a": approval.Ask, "https://u@example.com/docs/a": approval.Ask, "https://example.com/docs/..;/x": approval.Ask,
	} {
		rows = append(rows, verdictRow{allowed, "WebFetch: " + address, want, "an allowed address is as it is written"})
	}
	for address, want := range map[string]approval.Verdict{
		"https://example.com": approval.Allow, "https://example.com/": approval.Allow, "https://example.com?x=secret": approval.NoOpinion, "https://example.com/?x=secret": approval.NoOpinion, "https://example.com#x": approval.NoOpinion, "https://example.com/x": approval.NoOpinion,
	} {
		rows = append(rows, verdictRow{"allow WebFetch(https://example.com)", "WebFetch: " + address, want, "it allows no query"})
	}
	const search = "allow WebFetch; deny WebFetch(https://example.com/search?q=secret*)"
	checkVerdicts(t, append(
		rows,
		verdictRow{search, "WebFetch: https://example.com/search?q=SECRETS", approval.Deny, "it is what is denied"},
		verdictRow{search, "WebFetch: https://example.com//search?a=b&q=secret", approval.Ask, "a query may be written in another order"},
		verdictRow{search, "WebFetch: https://example.com/search", approval.Allow, "it has no query"},
		verdictRow{"allow WebFetch(https://*/feed)", "WebFetch: https://a.test/feed", approval.Allow, "* is any host"},
	))
}
