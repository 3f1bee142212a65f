package approval_test

import (
	"strings"
	"testing"

	"ringback/internal/rules/approval"
)

func TestWhyACallIsJudgedSo(t *testing.T) {
	t.Parallel()
	rules := approval.ToolRules{
		Allow: []string{"Bash(ls *)", "WebSearch"}, Ask: []string{"Bash(git push *)", "Bash(make deploy)", "Write(docs/**)"}, Deny: []string{"WebFetch"},
	}
	denying := rules
	denying.Deny = []string{"Bash(rm *)"}
	for text, want := range map[string]approval.Judgement{
		"Bash: ls -l":                      {Verdict: approval.Allow, Rule: "Bash(ls *)", Why: "all of the call matches"},
		"Bash: make deploy":                {Verdict: approval.Ask, Rule: "Bash(git push *)", Why: "it is not certain whether the call matches"},
		"Bash: make test && rm -r x":       {Verdict: approval.Deny, Rule: "Bash(rm *)", Why: "a part of the call matches"},
		"Bash: make build":                 {Verdict: approval.Ask, Rule: "Bash(rm *)", Why: "it is not certain that the call does nothing that this rule denies"},
		"Write: docs/a.md":                 {Verdict: approval.Ask, Rule: "Write(docs/**)", Why: "all of the call matches"},
		"Write: src/a.go":                  {Verdict: approval.Allow, Why: "files in the working directory may be read and edited"},
		"WebFetch: https://example.com":    {Verdict: approval.Deny, Rule: "WebFetch", Why: "all of the call matches"},
		"WebSearch: rain":                  {Verdict: approval.Allow, Rule: "WebSearch", Why: "all of the call matches"},
		`Task: {"prompt": "x"}`:            {Verdict: approval.NoOpinion, Why: "no rule covers all that the call does"},
		`Bash: {"command": "git push -f"}`: {Verdict: approval.Ask, Rule: "Bash(git push *)", Why: "a part of the call matches"},
	} {
		call, err := approval.ParseToolCall(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		call.Dir, call.Home = "/work", "/home/x"
		judging := rules
		if strings.Contains(text, "rm -r") || strings.Contains(text, "make build") {
			judging = denying
		}
		got := judging.Judge(call)
		if got.Permits = ""; got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{"", "make deploy", "Bash(make): x", "*: x", "Task: x", "Task: {", "two words: x"} {
		if c, err := approval.ParseToolCall(text); err == nil {
			t.Errorf("%q is read as %+v", text, c)
		}
	}
}
