package approval_test

import (
	"fmt"
	"strings"
	"testing"

	"ringback/internal/rules/approval"
	"ringback/test/must"
)

// rulesOf reads rules as the tests below write them: "deny Read; allow Bash(ls *)".
func rulesOf(t *testing.T, text string) approval.ToolRules {
	t.Helper()
	var rules approval.ToolRules
	lists := map[string]*[]string{"allow": &rules.Allow, "ask": &rules.Ask, "deny": &rules.Deny}
	for rule := range strings.SplitSeq(text, "; ") {
		list, rule, _ := strings.Cut(rule, " ")
		*lists[list] = append(*lists[list], rule)
	}
	must.Equal(t, "", rules.Fault())
	return rules
}

// callOf reads a call of a tool: "Bash: ls -la", "Read: a.go".
func callOf(t *testing.T, text string) approval.ToolCall {
	t.Helper()
	tool, about, found := strings.Cut(text, ": ")
	field := map[string]string{"Bash": "command", "WebFetch": "url", "Read": "file_path", "Write": "file_path", "Edit": "file_path", "NotebookEdit": "notebook_path"}[tool]
	if !found || field == "" {
		t.Fatalf("%q is no call", text)
	}
	return approval.ToolCall{Name: tool, Input: map[string]any{field: about}, Dir: "/work", PlainRepository: func() bool { return true }}
}

// verdictOf judges a call. The rule is the one that a yes for more than once would permit.
func verdictOf(rules approval.ToolRules, call approval.ToolCall) (approval.Verdict, string) {
	j := rules.Judge(call)
	return j.Verdict, j.Permits
}

type verdictRow struct {
	rules, call string
	want        approval.Verdict
	because     string
}

func checkVerdicts(t *testing.T, rows []verdictRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(fmt.Sprintf("%s/%s", row.rules, row.call), func(t *testing.T) {
			t.Parallel()
			got, rule := verdictOf(rulesOf(t, row.rules), callOf(t, row.call))
			must.Equal(t, row.want, got, rule, row.because)
		})
	}
}

func TestWhichRuleDecides(t *testing.T) {
	t.Parallel()
	checkVerdicts(t, []verdictRow{
		{"allow Bash(ls *)", "Bash: ls -la", approval.Allow, "a rule allows it"},
		{"allow Bash(ls *)", "Bash: pwd", approval.NoOpinion, "no rule speaks of it"},
		{"allow Bash; deny Bash(rm *)", "Bash: rm x", approval.Deny, "deny wins"},
		{"ask Bash; allow Bash(ls *)", "Bash: ls", approval.Allow, "a rule with a pattern goes before one without"},
		{"allow Bash; ask Bash(git push *)", "Bash: git push", approval.Ask, "a rule with a pattern goes before one without"},
		{"allow Bash(git *); ask Bash(git push *)", "Bash: git push", approval.Ask, "ask goes before allow"},
		{"allow Bash; ask Bash", "Bash: ls", approval.Ask, "ask goes before allow"},
		{"deny Bash(rm *); deny Bash", "Bash: sh -c ls", approval.Deny, "all of the tool is denied, whatever runs"},
		{"deny *", "Read: a.go", approval.Deny, "* is every tool"},
		{"ask *", "Read: a.go", approval.Ask, "files in the working directory are free only where no rule speaks of them"},
		{"ask Bash", "Read: a.go", approval.Allow, "files in the working directory may be read"},
		{"ask Bash", "Write: a.go", approval.Allow, "and edited"},
		{"ask Bash", "Read: ../a.go", approval.NoOpinion, "others are the CLI's to judge"},
		{"ask Edit", "Write: a.go", approval.Ask, "a rule for Edit is one for all tools that edit"},
		{"ask Edit", "NotebookEdit: a.ipynb", approval.Ask, "a rule for Edit is one for all tools that edit"},
		{"ask Write", "Edit: a.go", approval.Ask, "to ask, one editor stands for all"},
		{"allow Write(//tmp/**)", "Edit: /tmp/a.go", approval.NoOpinion, "to allow, it stands for itself"},
	})
}

func TestWhatAShellCommandMayDo(t *testing.T) {
	t.Parallel()
	const ls, rm = "allow Bash(ls *)", "allow Bash; deny Bash(rm *)"
	checkVerdicts(t, []verdictRow{
		// To be allowed, each command in it must match, in the open.
		{ls, "Bash: ls", approval.Allow, "a pattern that ends in * matches without anything behind it"},
		{ls, "Bash: ls a && ls b || ls c; ls d | ls e & (ls f); { ls g; }", approval.Allow, "each of its commands matches"},
		{ls, "Bash: if ls a; then ls b; fi; while ls c; do ls d; done; case x in x) ls e;; esac; time ls", approval.Allow, "each of its commands matches"},
		{ls, `Bash: "l"'s' -la`, approval.Allow, "quotes are read"},
		{ls, "Bash: ls -la 2>/dev/null 2>&1", approval.Allow, "nothing is written to a file"},
		{ls, "Bash: ls; pwd", approval.NoOpinion, "one of them does not match"},
		{ls, "Bash: lsof", approval.NoOpinion, "it is another program"},
		{ls, "Bash: ls > a", approval.NoOpinion, "it writes to a file"},
		{ls, "Bash: ls <> a", approval.NoOpinion, "it may make a file"},
		{ls, "Bash: ./ls", approval.NoOpinion, "a program at a path is another one: Claude may have written it"},
		{ls, "Bash: /tmp/ls -la", approval.NoOpinion, "a program at a path is another one"},
		{ls, "Bash: './ls -la'", approval.NoOpinion, "a program at a path is another one"},
		{ls, "Bash: 'ls -la'", approval.NoOpinion, "that is a program whose name has a space"},
		{"allow Bash(./check.sh all)", "Bash: ./check.sh all", approval.Allow, "a rule may name a path"},
		{"allow Bash(./check.sh all)", "Bash: ./bin/check.sh all", approval.NoOpinion, "it is another path"},
		{"allow Bash(./check.sh *)", "Bash: ./check.sh all", approval.NoOpinion, "what it does with other arguments is not known"},
		{ls, "Bash: PATH=. ls", approval.NoOpinion, "a variable may change what runs"},
		{ls, "Bash: PATH=.; ls", approval.NoOpinion, "a variable may change what runs"},
		{ls, "Bash: export PATH=.; ls", approval.NoOpinion, "a variable may change what runs"},
		{ls, "Bash: declare -x PATH=.; ls", approval.NoOpinion, "a variable may change what runs"},
		{ls, "Bash: readonly PATH=. && ls", approval.NoOpinion, "a variable may change what runs"},
		{ls, "Bash: for PATH in .; do ls; done", approval.NoOpinion, "a variable may change what runs"},
		{ls, "Bash: {PATH}>/dev/null; ls", approval.NoOpinion, "a variable may change what runs"},
		{ls, "Bash: ((PATH=1)); ls", approval.NoOpinion, "a variable may change what runs"},
		{ls, "Bash: ls; let 'a[$(id)]'", approval.NoOpinion, "arithmetic runs what stands in an index"},
		{ls, "Bash: ls && [[ -v 'a[$(id)]' ]]", approval.NoOpinion, "a test runs what stands in an index"},
		{ls, "Bash: ls() { id; }; ls", approval.NoOpinion, "a function takes the name"},
		{ls, "Bash: coproc ls", approval.NoOpinion, "it goes on beside"},
		{ls, "Bash: ls $(id)", approval.NoOpinion, "another command runs in it"},
		{ls, "Bash: ls `id`", approval.NoOpinion, "another command runs in it"},
		{ls, "Bash: ls <(id)", approval.NoOpinion, "another command runs in it"},
		{ls, "Bash: ls <<X\n$(id)\nX", approval.NoOpinion, "another command runs in it"},
		{ls, "Bash: case $(ls) in x) ls;; esac", approval.NoOpinion, "what a command prints cannot be seen"},
		{ls, "Bash: ls < <(ls)", approval.NoOpinion, "another command runs beside it"},
		{ls, "Bash: case $(id) in *) ls;; esac", approval.NoOpinion, "another command runs in it"},
		{ls, "Bash: ls $HOME", approval.NoOpinion, "what a variable holds cannot be seen"},
		{ls, "Bash: ls ${X:=y}", approval.NoOpinion, "what a variable holds cannot be seen"},
		{ls, "Bash: ls $((x))", approval.NoOpinion, "what a variable holds cannot be seen"},
		{ls, "Bash: $'ls'", approval.NoOpinion, "such quotes have letters of their own"},
		{ls, "Bash: l{s,s}", approval.NoOpinion, "braces make words"},
		{ls, "Bash: l?", approval.NoOpinion, "it cannot be seen which program that is"},
		{ls, "Bash: ls | sh", approval.NoOpinion, "a shell runs what it reads"},
		{"allow Bash(python *)", "Bash: python x.py", approval.NoOpinion, "what a file does cannot be seen"},
		{"allow Bash(python3.12 *)", "Bash: python3.12 x.py", approval.NoOpinion, "what a file does cannot be seen, whatever the version"},
		{"allow Bash(. *)", "Bash: . ./x", approval.NoOpinion, "what a file does cannot be seen"},
		{ls, "Bash: ls (", approval.NoOpinion, "it is not valid"},
		{ls, "Bash:  ", approval.NoOpinion, "nothing runs"},

		// To be denied, or asked for, one command in it is enough.
		{rm, "Bash: rm -rf x", approval.Deny, "it is what is denied"},
		{rm, "Bash: ls && rm x", approval.Deny, "one of them is what is denied"},
		{rm, "Bash: if ls; then rm x; fi", approval.Deny, "one of them is what is denied"},
		{rm, "Bash: r'm' x", approval.Deny, "quotes are read"},
		{rm, `Bash: r\m x`, approval.Deny, "quotes are read"},
		{rm, "Bash: r\\\nm x", approval.Deny, "lines are joined"},
		{rm, "Bash: \"r\\\nm\" x", approval.Deny, "lines are joined"},
		{rm, "Bash: /bin/rm x", approval.Deny, "a path leads to the same program"},
		{rm, "Bash: rm $HOME", approval.Deny, "it can be seen that it is what is denied, whatever the variable holds"},
		{rm, "Bash: X=1 rm x", approval.Deny, "it can be seen that it is what is denied"},
		{rm, "Bash: rm $(ls)", approval.Deny, "it can be seen that it is what is denied"},
		{rm, "Bash: export X=1; rm x", approval.Deny, "it can be seen that it is what is denied"},
		{rm, "Bash: sh -c 'rm x'", approval.Ask, "it cannot be seen whether it is what is denied"},
		{rm, "Bash: $'\\x72m' x", approval.Deny, "such quotes are read"},
		{rm, "Bash: $X x", approval.Ask, "it cannot be seen whether it is what is denied"},
		{rm, "Bash: r${X}m x", approval.Ask, "it cannot be seen whether it is what is denied"},
		{rm, "Bash: find . -delete", approval.Ask, "such programs run others"},
		{rm, "Bash: {rm,-rf,x}", approval.Ask, "braces make words"},
		{rm, "Bash: if (", approval.Ask, "it is not valid"},
		{rm, `Bash: "r\m" x`, approval.Ask, "in these quotes the backslash stays: it is a program that nobody knows"},
		{rm, "Bash: ls rm", approval.Allow, "that is not the program"},
		{"allow Bash; ask Bash(git push *)", "Bash: git status; git push", approval.Ask, "one of them is to be asked for"},
		{"allow Bash; ask Bash(git push *)", "Bash: eval git status", approval.Ask, "it cannot be seen whether it is to be asked for"},
	})
}

func TestWhichFilesARuleIsAbout(t *testing.T) {
	t.Parallel()
	const docs, env = "allow Write(docs/**); ask Write", "allow Read; deny Read(**/.env)"
	checkVerdicts(t, []verdictRow{
		{docs, "Write: docs/a/b.md", approval.Allow, "it lies there"},
		{docs, "Write: ./docs/a.md", approval.Allow, "it lies there"},
		{docs, "Write: /work/docs/a.md", approval.Allow, "it lies there"},
		{docs, "Write: docs/../main.go", approval.Ask, "it lies elsewhere"},
		{docs, "Write: ../docs/a.md", approval.Ask, "it lies outside of the working directory"},
		{"allow Write(**/a.md); ask Write", "Write: ../a.md", approval.Ask, "a pattern allows nothing outside of the working directory"},
		{"allow Write(//tmp/**); ask Write", "Write: /tmp/a.md", approval.Allow, "unless it begins with two slashes"},
		{"allow Write(//tmp/**); ask Write", "Write: /tmp/../etc/passwd", approval.Ask, "it lies elsewhere"},
		{"allow Write(/tmp/**); ask Write", "Write: tmp/a.md", approval.Allow, "with one slash, it lies in the job's own directory"},
		{"allow Write(/tmp/**); ask Write", "Write: /tmp/a.md", approval.Ask, "with one slash, it lies in the job's own directory"},
		{env, "Read: .env", approval.Deny, "** is any directory, or none"},
		{env, "Read: a/b/.env", approval.Deny, "** is any directory"},
		{env, "Read: ../other/.env", approval.Deny, "** is any directory, also outside of the working directory"},
		{env, "Read: /etc/.env", approval.Deny, "** is any directory, also outside of the working directory"},
		{env, "Read: .environment", approval.Allow, "it is another file"},
		{"allow Read; deny Read(/etc/**)", "Read: ../etc/shadow", approval.Deny, "it lies there"},
	})
}

func TestWhichAddressesARuleIsAbout(t *testing.T) {
	t.Parallel()
	const good, evil = "allow WebFetch(domain:*.example.com); ask WebFetch", "allow WebFetch; deny WebFetch(domain:evil.test)"
	checkVerdicts(t, []verdictRow{
		{good, "WebFetch: https://docs.example.com/x", approval.Allow, "it is a part of the domain"},
		{good, "WebFetch: https://example.com:8443/x", approval.Allow, "it is the domain"},
		{good, "WebFetch: https://notexample.com/", approval.Ask, "it is another domain"},
		{good, "WebFetch: https://docs.example.com.evil.test/", approval.Ask, "it is another domain"},
		{good, "WebFetch: https://docs.example.com@evil.test/", approval.Ask, "it is another domain"},
		{good, "WebFetch: https://evil.test/?docs.example.com", approval.Ask, "it is another domain"},
		{good, `WebFetch: https://evil.test\@docs.example.com/`, approval.Ask, "browsers read it otherwise"},
		{"allow WebFetch(domain:example.com); ask WebFetch", "WebFetch: https://docs.example.com/", approval.Ask, "without *. only the domain itself is meant"},
		{evil, "WebFetch: https://EVIL.test/", approval.Deny, "capitals are the same"},
		{"allow WebFetch; deny WebFetch(domain:Evil.Test)", "WebFetch: https://evil.test/", approval.Deny, "capitals are the same"},
		{evil, "WebFetch: https://evil.test./", approval.Deny, "it is the same domain"},
		{evil, `WebFetch: https:\\evil.test/`, approval.Ask, "browsers read it otherwise"},
		{evil, "WebFetch: https://ev\til.test/", approval.Ask, "browsers read it otherwise"},
		{evil, "WebFetch: https://ｅｖｉｌ.test/", approval.Ask, "browsers read it otherwise"},
		{evil, "WebFetch: https://evil%2Etest/", approval.Ask, "browsers read it otherwise"},
		{evil, "WebFetch: https://good.test/", approval.Allow, "it is another domain"},
		{"allow WebFetch; deny WebFetch(https://evil.test/*)", "WebFetch: HTTPS://Evil.test/x", approval.Deny, "capitals are the same"},
		{"allow WebFetch(https://good.test/*); ask WebFetch", "WebFetch: https://good.test/x", approval.Allow, "it begins like that"},
		{"allow WebFetch(https://good.test/a/*); ask WebFetch", "WebFetch: https://good.test/a/../b", approval.Ask, "it leads elsewhere"},
		{"allow WebFetch(https://good.test/a/*); ask WebFetch", "WebFetch: https://good.test/a/%2e%2E/b", approval.Ask, "it leads elsewhere"},
		{"allow WebFetch(https://good.test/a/*); ask WebFetch", `WebFetch: https://good.test/a/\..\b`, approval.Ask, "browsers read it otherwise"},
		{"allow WebFetch; deny WebFetch(https://good.test/b*)", "WebFetch: https://good.test/a/../b", approval.Ask, "it leads elsewhere"},
		{good, "WebFetch: https://docs.example.com/a/../b", approval.Allow, "the domain is the same"},
	})
}

// Whatever comes behind it, what is denied is not run unseen.
func FuzzShellCommands(f *testing.F) {
	for _, rest := range []string{"", "; ls", "\nEOF", "$(", "<<X", "\\", "'", "&& export A=b", "() { :; }"} {
		f.Add(rest)
	}
	rules := approval.ToolRules{Allow: []string{"Bash"}, Deny: []string{"Bash(rm *)"}}
	f.Fuzz(func(t *testing.T, rest string) {
		call := approval.ToolCall{Name: "Bash", Input: map[string]any{"command": "rm x\n" + rest}}
		if verdict, _ := verdictOf(rules, call); verdict != approval.Deny && verdict != approval.Ask {
			t.Errorf("rm, and then %q: %q", rest, verdict)
		}
	})
}
