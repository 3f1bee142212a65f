package kind_test

import (
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/test/must"
)

func TestParsePrompt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		policy     kind.Policy
		body       string
		bodyLine   int
	}{
		{"no front matter", "Hello\n\n---\nmore", kind.Policy{}, "Hello\n\n---\nmore", 1},
		{"empty front matter", "---\n---\nHello", kind.Policy{}, "Hello", 3},
		{"only a comment", "---\n# later\n---\nHello", kind.Policy{}, "Hello", 4},
		{"description only", "---\ndescription: Plans: not meals\n---\n\n\nHello\n", kind.Policy{}, "", 0},
		{"blank lines before the body", "---\ndescription: Plans\n---\n\n\nHello\n", kind.Policy{Description: "Plans"}, "Hello", 6},
		{"indentation of the body stays", "---\n---\n\nHello\n    code", kind.Policy{}, "Hello\n    code", 4},
		{"Windows", "\uFEFF---\r\ndescription: Plans\r\n---\r\nHello\r\nyou", kind.Policy{Description: "Plans"}, "Hello\nyou", 4},
		{"key without value", "---\nmodel:\n---\nHello", kind.Policy{}, "Hello", 4},
		{"zero timeout", "---\ntimeout: 0\n---\nHello", kind.Policy{}, "Hello", 4},
		{
			"everything",
			"---\ndescription: D\nevents: a:b\nallowed_tools: [Read, \"Bash(git *)\"]\nmodel: m\nmax_turns: 5\n" +
				"max_budget_usd: 0.5\ntimeout: 1m30s\nmax_attempts: 1\npriority: batch\n---\nHello",
			kind.Policy{
				Description: "D", Events: "a:b", AllowedTools: []string{"Read", "Bash(git *)"}, Model: "m", MaxTurns: 5,
				MaxBudgetUSD: 0.5, Timeout: 90 * time.Second, MaxAttempts: 1, Priority: job.Batch,
			},
			"Hello", 12,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			policy, body, line, problems := kind.ParsePrompt([]byte(tc.text))
			if tc.bodyLine == 0 {
				if len(problems) == 0 {
					t.Fatal("want a problem")
				}
				return
			}
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			must.Equal(t, tc.policy, policy)
			if body != tc.body || line != tc.bodyLine {
				t.Errorf("got %q on line %d, want %q on line %d", body, line, tc.body, tc.bodyLine)
			}
		})
	}
}

func TestParsePromptTellsAllProblemsWithTheirLines(t *testing.T) {
	t.Parallel()
	keys := "Known keys: description, title, events, allowed_tools, model, callback, max_turns, max_budget_usd, budget_usd, budget_usd_per_day, jobs_at_once, jobs_per_day, on_budget, timeout, stall_timeout, tool_timeout, max_attempts, max_blocks, questions, thinking, priority, check, actions, workspace, verifiers, verifiers_at_once, network, limits, review, max_steering_iterations, finalize, pull_request, tools."
	for _, tc := range []struct {
		name, text string
		want       []kind.Problem
	}{
		{
			"not closed", "---\ndescription: D\nHello",
			[]kind.Problem{{Line: 1, Message: "the front matter is not closed", Hint: "End it with a line of three dashes, or delete the first line."}},
		},
		{
			"several", "---\nmax_turns: ten\nmaxTurns: 5\ntimeout: 5 minutes\n\nallowed_tools: Read\npriority: urgent\nmax_attempts: 0\nmax_budget_usd: .nan\nevents: \"a b\"\nverifiers_at_once: 0\n---\nHello",
			[]kind.Problem{
				{Line: 2, Message: "max_turns: found ten; expected a whole number"},
				{Line: 3, Message: "maxTurns is not a known key", Hint: keys},
				{Line: 4, Message: `timeout: found "5 minutes"; expected a duration such as 90s or 5m`},
				{Line: 6, Message: "allowed_tools: found Read; expected a list"},
				{Line: 7, Message: `priority: found "urgent"; allowed: interactive, batch`},
				{Line: 8, Message: "max_attempts: found 0; expected 1 to 20"},
				{Line: 9, Message: "max_budget_usd: found NaN; expected 0 (no limit) to 10000"},
				{Line: 10, Message: `events: found "a b"; expected letters, digits, and : _ -, beginning with a small letter, not ending in :`},
				{Line: 11, Message: "verifiers_at_once: found 0; expected 1 to 16"},
			},
		},
		{
			"fraction", "---\nmax_turns: 1.5\nmax_blocks: 1.5\n---\nHello",
			[]kind.Problem{
				{Line: 2, Message: "max_turns: found 1.5; expected a whole number"},
				{Line: 3, Message: "max_blocks: found 1.5; expected a whole number"},
			},
		},
		{
			"a model that is an option, or two", "---\nmodel: --settings=x\n---\nHello",
			[]kind.Problem{{Line: 2, Message: `model: found "--settings=x"; expected the name of a model, such as sonnet`}},
		},
		{
			"variables that are none", "---\nactions:\n  - name: a\n    command: [echo]\n    env: {\"A=B\": x}\n---\nHello",
			[]kind.Problem{{Line: 5, Message: `actions: a: env: found "A=B"; expected the name of a variable, such as DEPLOY_TOKEN`}},
		},
		{
			"a webhook at a port that is none", "---\nactions:\n  - name: a\n    webhook: http://x:65536/\n---\nHello",
			[]kind.Problem{{Line: 3, Message: "actions: a: webhook: expected an http or https URL"}},
		},
		{
			"twice", "---\nmodel: a\nmodel: b\n---\nHello",
			[]kind.Problem{{Line: 3, Message: `mapping key "model" already defined at [1:1]`}},
		},
		{
			"network", "---\nnetwork: host\n---\nHello",
			[]kind.Problem{{Line: 2, Message: `network: found "host"; expected full, none, or a list of hosts, [registry.npmjs.org]`}},
		},
		{
			"network that is switched off", "---\nnetwork: off\n---\nHello",
			[]kind.Problem{{Line: 2, Message: `network: found "off"; expected full, none, or a list of hosts, [registry.npmjs.org]`}},
		},
		{
			"networks", "---\nnetwork: [https://example.com]\n---\nHello",
			[]kind.Problem{{Line: 2, Message: `network: found "https://example.com"; expected the name of a host, such as "example.com", "*.example.com" or "example.com:8443"`}},
		},
		{
			"no mapping", "---\n- a\n---\nHello",
			[]kind.Problem{{Line: 2, Message: "the front matter must be one YAML mapping", Hint: `Write lines such as "description: Plans meals".`}},
		},
		{
			"YAML syntax", "---\nmodel: a\nallowed_tools: [\n---\nHello",
			[]kind.Problem{{Line: 3, Message: "sequence end token ']' not found"}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, _, _, problems := kind.ParsePrompt([]byte(tc.text))
			for i := range problems {
				problems[i].Unreadable = false // see TestJobsContinueWithAKindThatWasValidOnce
			}
			must.Equal(t, tc.want, problems)
		})
	}
}

func FuzzParsePrompt(f *testing.F) {
	for _, seed := range []string{
		"Hello", "---\n---\n", "---", "---\ndescription: D\n---\nHello {{input.a}}", "---\nmax_turns: 1.5\n---\n",
		"---\nallowed_tools: [a, *b]\n---\n", "---\n- a\n---\nx", "---\n? a\n: b\n---\n", "---\n<<: {a: b}\n---\n", "---\r\na: \"\\x\"\r\n---\r\n",
		"---\ntimeout: 0x7\n---\n", "---\nmodel: |\n  a\n  ---\n---\nx", "---\n&a : *a\n---\n", "---\n!!binary x: y\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, body, bodyLine, problems := kind.ParsePrompt(text)
		whole := strings.ReplaceAll(string(text), "\r\n", "\n")
		lines := strings.Count(whole, "\n") + 1
		if bodyLine < 1 || bodyLine > lines+1 {
			t.Errorf("the body begins on line %d of %d", bodyLine, lines)
		}
		must.Contain(t, whole, body, "the body")
		if body != "" && len(problems) == 0 && !strings.HasPrefix(strings.TrimSpace(strings.Split(whole, "\n")[bodyLine-1]), strings.TrimSpace(strings.Split(body, "\n")[0])) &&
			bodyLine > 1 {
			t.Errorf("line %d does not begin the body %q", bodyLine, body)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines+1 || p.Message == "" {
				t.Errorf("problem %+v of %d lines", p, lines)
			}
		}
	})
}

// Problems use the terms of the file, not those of Go.
func TestNoProblemSpeaksGo(t *testing.T) {
	t.Parallel()
	for front, want := range map[string]string{
		"tools: []":                                         "tools: found a list; expected a mapping (key: value)",
		"tools: {ask: [[a]]}":                               "tools: found a list; expected text",
		"tools: {aks: [Bash]}":                              `tools: "aks" is not a known key`,
		"tools: {deny: [Bash]}":                             "tools: deny: Bash: Claude calls back with curl, which that denies; set callback: mcp, or deny less",
		"tools: {deny: ['Bash(curl *)']}":                   "tools: deny: Bash(curl *): Claude calls back with curl, which that denies; set callback: mcp, or deny less",
		"actions: 5":                                        "actions: found 5; expected a list",
		"actions: [{name: a, env: {A: {}}}]":                "actions: found a mapping (key: value); expected text",
		"actions: [{name: a, timeout: 5}]":                  "actions: found 5; expected a duration such as 90s or 5m",
		"actions: [{name: a, timeout: soon}]":               `actions: found "soon"; expected a duration such as 90s or 5m`,
		"workspace: {repositories: [{url: []}]}":            "workspace: found a list; expected text",
		"workspace: {credentials: ['*']}":                   `workspace: credentials: found "*"; expected a host, "github.com", or a part of one, "github.com/org"`,
		"verifiers: [{a: []}]":                              "verifiers: found a list; expected text",
		"review: maybe":                                     "review: found maybe; expected true or false",
		"max_blocks: 9":                                     "max_blocks: found 9; expected 0 to 8",
		"timeout: 500ms":                                    "timeout: found 500ms; expected 1s to 24h, or 0 for CALLBACK_TIMEOUT",
		"tool_timeout: 25h":                                 "tool_timeout: found 25h0m0s; expected 1s to 24h, or 0 for the default",
		"actions: [{name: a, command: [x], writable: [y]}]": `actions: a: writable: found "y"; expected absolute paths, such as /srv/www`,
		"actions: [{name: a, command: [x], preview: {command: [x], readable: [y]}}]": `actions: a: preview: readable: found "y"; expected absolute paths, such as /srv/www`,
		"actions: [{name: a, command: [x], confirm: 'when: input + 1'}]":             "actions: a: confirm: invalid operation: + (mismatched types object and int) (1:7)",
	} {
		_, _, _, problems := kind.ParsePrompt([]byte("---\n" + front + "\n---\nHi"))
		if len(problems) != 1 || problems[0].Message != want || problems[0].Line != 2 {
			t.Errorf("%s: %v, want %s", front, problems, want)
		}
	}
}
