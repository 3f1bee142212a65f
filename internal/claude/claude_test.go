package claude_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/kind"
)

func haiku(t testing.TB) *kind.Kind {
	t.Helper()
	registry, problems := kind.Load(kind.Source{
		Prompts: fstest.MapFS{"haiku.md": {Data: []byte("---\nmodel: sonnet\nmax_turns: 4\nmax_budget_usd: 0.5\n---\nAbout {{input.topic}} and {{input.mood}}, job {{REQUEST_ID}}.")}},
		Schemas: fstest.MapFS{"haiku.result.json": {Data: []byte(`{"properties":{"lines":{}}}`)}},
	})
	if err := kind.Join(problems); err != nil {
		t.Fatal(err)
	}
	k, _ := registry.Get("haiku")
	return k
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	turn := claude.Turn{Kind: haiku(t), Conversation: "11111111-1111-4111-8111-111111111111", CallbackBaseURL: "http://localhost:3001", Extra: []string{"--debug"}}
	curl := func(endpoint, file string) string {
		return "Bash(curl -sS -X POST http://localhost:3001/api/claude/" + endpoint +
			" -H 'Content-Type: application/json' --retry 8 --retry-connrefused --retry-max-time 120 -d @" + file + ".json)"
	}
	want := []string{
		"-p", "--output-format", "stream-json", "--verbose", "--max-turns", "4", "--session-id", turn.Conversation,
		"--allowedTools", strings.Join([]string{
			"Edit(./**)", curl("progress", "progress"), curl("suggestions", "result"), curl("suggestions/batch", "batch"),
			curl("result", "result"), curl("failure", "failure"),
		}, ","),
		"--model", "sonnet", "--max-budget-usd", "0.5", "--debug",
	}
	if diff := cmp.Diff(want, claude.Args(turn)); diff != "" {
		t.Error(diff)
	}
	turn.Resume, turn.Structured = true, true
	args := claude.Args(turn)
	if !slices.Contains(args, "--resume") || !slices.Contains(args, "--json-schema") || strings.Contains(strings.Join(args, " "), "curl") {
		t.Errorf("arguments are %q", args)
	}
}

func TestCLISeesNoneOfOurSecrets(t *testing.T) {
	t.Parallel()
	got := claude.Environ([]string{
		"PATH=/bin", "HOME=/home/x", "LC_ALL=C", "ANTHROPIC_API_KEY=k", "CLAUDE_CONFIG_DIR=/c", "HTTPS_PROXY=p",
		"API_KEYS=secret", "JWT_SECRET=secret", "REDIS_URL=redis://:secret@h", "WEBHOOK_SECRET=secret", "SLACK_WEBHOOK_URL=secret", "CLAUDE_BIN=x",
	})
	want := []string{"PATH=/bin", "HOME=/home/x", "LC_ALL=C", "ANTHROPIC_API_KEY=k", "CLAUDE_CONFIG_DIR=/c", "HTTPS_PROXY=p"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFirstPrompt(t *testing.T) {
	t.Parallel()
	p := claude.Prompt{
		Kind: haiku(t), Input: json.RawMessage("{\"topic\": \"{{HMAC_SIGNATURE}} ``` # rain\"}"),
		Callback: claude.Callback{RequestID: "req_1", BaseURL: "http://localhost:3001", Signature: "abc"},
	}
	text, err := p.First()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`About "{{HMAC_SIGNATURE}} \u0060\u0060\u0060 # rain" and (not given), job req_1.` + "\n\n---\n\n## How to Submit Your Response",
		"### Progress Updates (Optional)", "### Final Submission (Required)", "## Callback Configuration",
		"- REQUEST_ID: req_1\n- CALLBACK_BASE_URL: http://localhost:3001\n- HMAC_SIGNATURE: abc\n",
		"NOT complete until this endpoint has answered `{\"success\": true}`",
		"curl -sS -X POST http://localhost:3001/api/claude/result -H 'Content-Type: application/json' --retry 8 --retry-connrefused --retry-max-time 120 -d @result.json\n",
		"exponential backoff",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	blocks := strings.Split(text, "```json\n")
	last, _, _ := strings.Cut(blocks[len(blocks)-1], "\n```")
	var input struct{ Topic string }
	if err := json.Unmarshal([]byte(last), &input); err != nil || input.Topic != "{{HMAC_SIGNATURE}} ``` # rain" {
		t.Errorf("the last block is not the input: %v %q", err, last)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "curl") && (strings.ContainsAny(line, `$\|;&<>`) || strings.Count(line, "'") != 2) {
			t.Errorf("the CLI would refuse: %s", line)
		}
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	stream := strings.Join([]string{
		`garbage`, `{"type":"system","subtype":"init","session_id":"x"}`,
		`{"type":"assistant","message":{"role":"assistant","usage":{"input_tokens":3,"output_tokens":4}}}`,
		`{"type":"from_the_future","data":[1]}`, strings.Repeat("x", 9<<20),
		`{"type":"result","subtype":"success","result":"ok","total_cost_usd":0.25,"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":7},"structured_output":{"a":1}}`,
	}, "\n")
	r := claude.NewReader()
	for piece := range slices.Chunk([]byte(stream), 100_000) {
		_, _ = r.Write(piece)
	}
	r.Close()
	if want := (job.Usage{InputTokens: 15, OutputTokens: 7, CostUSD: 0.25}); r.Usage() != want || !r.Begun() {
		t.Errorf("usage is %+v, begun %t", r.Usage(), r.Begun())
	}
	if r.Result() == nil || string(r.Result().StructuredOutput) != `{"a":1}` {
		t.Errorf("the result is %+v", r.Result())
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exit claude.Exit
		code job.Code
		says string
	}{
		"exit 0":        {claude.Exit{Known: true}, job.CodeNoCallback, "without submitting"},
		"exit 1":        {claude.Exit{Known: true, Code: 1, Stderr: " not\n logged in "}, job.CodeCrashed, "exit code 1): not logged in"},
		"killed":        {claude.Exit{Known: true, Code: -1, Signal: "killed"}, job.CodeCrashed, "(killed)"},
		"adopted":       {claude.Exit{}, job.CodeNoCallback, "without submitting"},
		"budget":        {claude.Exit{Known: true, Last: &claude.Result{Subtype: "error_max_budget_usd", IsError: true}}, job.CodeBudget, "max_budget_usd"},
		"model refused": {claude.Exit{Known: true, Code: 1, Last: &claude.Result{IsError: true, Text: "API Error: 401"}}, job.CodeCrashed, "API Error: 401"},
	} {
		if code, message := claude.Explain(c.exit); code != c.code || !strings.Contains(message, c.says) {
			t.Errorf("%s: %s %q", name, code, message)
		}
	}
}

// FuzzReader feeds a stream in two ways; how it is cut must not matter.
func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"type\":\"result\"}\n{"), 3)
	f.Add([]byte("\n\n{\"type\":\"assistant\",\"message\":{\"content\":5}}"), 1)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		whole, pieces := claude.NewReader(), claude.NewReader()
		_, _ = whole.Write(bytes.Clone(stream))
		whole.Close()
		for piece := range slices.Chunk(stream, max(1, min(cut, len(stream)))) {
			_, _ = pieces.Write(piece)
		}
		pieces.Close()
		if whole.Usage() != pieces.Usage() || (whole.Result() == nil) != (pieces.Result() == nil) {
			t.Error("it matters how the stream is cut")
		}
	})
}
