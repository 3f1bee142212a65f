package claude_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/schema"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/claude"
	"ringback/test/must"
)

func haiku(t testing.TB) *kind.Kind {
	t.Helper()
	registry, problems := kind.Load(kind.Source{
		Prompts: fstest.MapFS{"haiku.md": {Data: []byte("---\nmodel: sonnet\nmax_turns: 4\nmax_budget_usd: 0.5\n---\nAbout {{input.topic}} and {{input.mood}}, job {{REQUEST_ID}}.")}},
		Schemas: fstest.MapFS{"haiku.result.json": {Data: []byte(`{"properties":{"lines":{}}}`)}},
	})
	must.OK(t, schema.Join(problems))
	k, _ := registry.Get("haiku")
	return k
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	turn := claude.Turn{Kind: haiku(t), Conversation: "11111111-1111-4111-8111-111111111111", CallbackBaseURL: "http://localhost:3001", Hold: 45 * time.Second, Extra: []string{"--debug"}}
	curl := func(endpoint, file string) string {
		return "Bash(curl -sS -X POST http://localhost:3001/api/claude/" + endpoint +
			" -H 'Content-Type: application/json' --retry 6 --retry-all-errors --retry-max-time 60 -m 15 -d \"@" + file + ".json\")"
	}
	waiting := strings.Replace(curl("checkpoints", "checkpoint"), "-m 15", "-m 60", 1)
	want := []string{
		"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--max-turns", "4",
		"--setting-sources", "user", "--session-id", turn.Conversation, "--tools", "Bash,Edit,Read,Write",
		"--allowedTools", strings.Join([]string{
			"Edit(./**)", curl("progress", "progress"), curl("suggestions", "result"), curl("suggestions/batch", "batch"),
			curl("result", "result"), curl("failure", "failure"), waiting,
		}, ","),
		"--model", "sonnet", "--max-budget-usd", "0.5", "--debug",
	}
	must.Equal(t, want, claude.Args(turn))
	turn.Kind.Policy.Thinking = true
	if at := slices.Index(claude.Args(turn), "--thinking-display"); at < 0 || claude.Args(turn)[at+1] != "summarized" {
		t.Errorf("the CLI is not asked for Claude's thinking: %q", claude.Args(turn))
	}
	turn.Resume, turn.Structured, turn.Fallback = true, true, "haiku"
	args := claude.Args(turn)
	if at := slices.Index(claude.Args(turn), "--fallback-model"); at < 0 || claude.Args(turn)[at+1] != "haiku" {
		t.Errorf("no model to fall back on: %q", claude.Args(turn))
	}
	if !slices.Contains(args, "--resume") || !slices.Contains(args, "--json-schema") || strings.Contains(strings.Join(args, " "), "curl") {
		t.Errorf("arguments are %q", args)
	}
}

// What precedes the conversation in the model's requests depends on the arguments: if they
// differed, nothing of an earlier turn would be read from the prompt cache.
func TestALaterTurnHasTheArgumentsOfTheFirst(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]claude.Turn{
		"curl": {}, "structured output": {Structured: true}, "MCP": {MCPConfig: "/jobs/1/mcp.json"}, "questions": {Questions: true, Settings: "/jobs/1/settings.json"},
	} {
		turn.Kind, turn.Conversation, turn.CallbackBaseURL = haiku(t), "11111111-1111-4111-8111-111111111111", "http://localhost:3001"
		want := claude.Args(turn)
		want[slices.Index(want, "--session-id")] = "--resume"
		turn.Resume = true
		must.Equal(t, want, claude.Args(turn), name)
	}
}

func TestClaudeIsOfferedWhatItMayUse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		allowed    []string
		structured bool
		want       string // empty: everything
	}{
		"callbacks":         {want: "Bash,Edit,Read,Write"},
		"structured output": {structured: true, want: "Read"},
		"the kind's own":    {allowed: []string{"WebFetch(domain:example.com)", "Read(/srv/**)"}, want: "Bash,Edit,Read,WebFetch,Write"},
		"an MCP server's":   {allowed: []string{"mcp__recipes__find"}},
	} {
		k := haiku(t)
		k.Policy.AllowedTools = c.allowed
		args := claude.Args(claude.Turn{Kind: k, Structured: c.structured})
		got := ""
		if i := slices.Index(args, "--tools"); i >= 0 {
			got = args[i+1]
		}
		must.Equal(t, c.want, got, name)
	}
}

func TestCLISeesNoneOfOurSecrets(t *testing.T) {
	t.Parallel()
	got := claude.Environ([]string{
		"PATH=/bin", "HOME=/home/x", "LC_ALL=C", "ANTHROPIC_API_KEY=k", "CLAUDE_CONFIG_DIR=/c", "HTTPS_PROXY=p", "no_proxy=corp.example",
		"API_KEYS=secret", "JWT_SECRET=secret", "REDIS_URL=redis://:secret@h", "WEBHOOK_SECRET=secret", "SLACK_WEBHOOK_URL=secret", "CLAUDE_BIN=x",
	}, 45*time.Second)
	want := []string{
		"PATH=/bin", "HOME=/home/x", "LC_ALL=C", "ANTHROPIC_API_KEY=k", "CLAUDE_CONFIG_DIR=/c", "HTTPS_PROXY=p",
		"CLAUDE_CODE_MAX_RETRIES=7", "NO_PROXY=corp.example,localhost,127.0.0.1,::1", "no_proxy=corp.example,localhost,127.0.0.1,::1",
		"BASH_DEFAULT_TIMEOUT_MS=165000",
	}
	got = slices.DeleteFunc(got, func(entry string) bool { return strings.Contains(entry, "DISABLE_") }) // see TestCLITalksToNobodyElse
	must.Equal(t, want, got)
}

// The server's logins at a cloud are only for a CLI that uses that cloud.
func TestLoginsOfACloudAreForItsModels(t *testing.T) {
	t.Parallel()
	logins := []string{"AWS_SECRET_ACCESS_KEY=aws", "AWS_SESSION_TOKEN=aws", "GOOGLE_APPLICATION_CREDENTIALS=gcp", "VERTEX_REGION_X=gcp"}
	for chosen, want := range map[string]string{
		"": "", "CLAUDE_CODE_USE_BEDROCK=0": "", "CLAUDE_CODE_USE_BEDROCK=1": "aws", "CLAUDE_CODE_USE_VERTEX=true": "gcp",
	} {
		for _, entry := range claude.Environ(append([]string{"HOME=" + t.TempDir(), chosen}, logins...), 0) {
			if _, value, _ := strings.Cut(entry, "="); (value == "aws" || value == "gcp") && value != want {
				t.Errorf("with %q the CLI sees %s", chosen, entry)
			}
		}
		kept := strings.Join(claude.Environ(append([]string{"HOME=" + t.TempDir(), chosen}, logins...), 0), "\n")
		if want != "" && !strings.Contains(kept, "="+want) {
			t.Errorf("with %q the CLI cannot sign in at its cloud: %s", chosen, kept)
		}
	}
}

func TestFirstPrompt(t *testing.T) {
	t.Parallel()
	p := claude.Prompt{
		Kind: haiku(t), Input: json.RawMessage("{\"topic\": \"{{HMAC_SIGNATURE}} ``` # rain\"}"),
		Callback: claude.Callback{RequestID: "req_1", BaseURL: "http://localhost:3001", Signature: "abc"},
	}
	text := must.Get(p.First())(t)
	for _, want := range []string{
		`About "{{HMAC_SIGNATURE}} \u0060\u0060\u0060 # rain" and (not given), job req_1.` + "\n\n---\n\n## How to Submit Your Response",
		"### Progress Updates (Optional)", "### Final Submission (Required)", "## Callback Configuration",
		"- REQUEST_ID: req_1\n- CALLBACK_BASE_URL: http://localhost:3001\n- HMAC_SIGNATURE: abc\n",
		"NOT complete until this endpoint has answered `{\"success\": true}`",
		"curl -sS -X POST http://localhost:3001/api/claude/result -H 'Content-Type: application/json' --retry 6 --retry-all-errors --retry-max-time 60 -m 15 -d \"@result.json\"\n",
		"exponential backoff",
	} {
		must.Contain(t, text, want, "the prompt")
	}
	// The end of the prompt contains the values and what is still to be done.
	_, closing, _ := strings.Cut(text, "\n## Callback Configuration\n")
	for _, want := range []string{
		"http://localhost:3001/api/claude/result", "NOT complete until", `{"success": true}`,
		"http://localhost:3001/api/claude/progress are optional but encouraged", "exponential backoff",
	} {
		if !strings.Contains(closing, want) || strings.Contains(closing, "\n#") {
			t.Errorf("the prompt does not end with %q: %s", want, closing)
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
		`{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":3,"output_tokens":4}}}`,
		`{"type":"from_the_future","data":[1]}`, strings.Repeat("x", 9<<20),
		`{"type":"result","subtype":"success","result":"ok","total_cost_usd":0.25,"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":7},"structured_output":{"a":1}}`,
	}, "\n")
	r := new(claude.Reader)
	for piece := range slices.Chunk([]byte(stream), 100_000) {
		_, _ = r.Write(piece)
	}
	r.Close()
	if want := (job.Usage{InputTokens: 15, OutputTokens: 7, CacheReadTokens: 5, CostUSD: 0.25}); r.Usage() != want || !r.Begun {
		t.Errorf("usage is %+v, begun %t", r.Usage(), r.Begun)
	}
	if r.Result == nil || string(r.Result.StructuredOutput) != `{"a":1}` {
		t.Errorf("the result is %+v", r.Result)
	}
}

// The CLI prints a line for each block of a message, with the message's usage on each.
func TestUsageOfABrokenStream(t *testing.T) {
	t.Parallel()
	const line = `{"type":"assistant","message":{"id":"ID","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"output_tokens":1}}}` + "\n"
	r := new(claude.Reader)
	for _, id := range []string{"m1", "m1", "m1", "m2"} {
		_, _ = r.Write([]byte(strings.Replace(line, "ID", id, 1)))
	}
	r.Close()
	must.Equal(t, job.Usage{InputTokens: 30, OutputTokens: 2, CacheWriteTokens: 10}, r.Usage())
}

// The output of a job's process is bounded: any program of the job may have written it.
func TestUsageThatNoTurnCanHave(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]job.Usage{
		`{"type":"result","total_cost_usd":-5,"usage":{"input_tokens":-5,"cache_read_input_tokens":3,"output_tokens":-1000000000000}}`: {InputTokens: 3, CacheReadTokens: 3},
		`{"type":"result","total_cost_usd":1e300,"usage":{"input_tokens":9000000000000000000,"cache_read_input_tokens":9000000000000000000,"output_tokens":1000000000000}}`: {
			InputTokens: 1e9, OutputTokens: 1e9, CacheReadTokens: 1e9, CostUSD: 1e5,
		},
	} {
		r := new(claude.Reader)
		_, _ = r.Write([]byte(line + "\n"))
		r.Close()
		must.Equal(t, want, r.Usage(), line)
	}
}

// ended describes how a CLI process ended.
type ended struct {
	Known  bool
	Code   int
	Signal string
	Last   *transcript.Result
	Stderr string
}

func (e ended) explain() (job.Code, string) {
	return claude.Explain(process.Exit{Known: e.Known, Code: e.Code, Signal: e.Signal}, e.Last, e.Stderr)
}

func TestExplain(t *testing.T) {
	t.Parallel()
	failed := func(r transcript.Result) ended {
		r.IsError = true
		return ended{Known: true, Code: 1, Last: &r}
	}
	denied := []transcript.Denial{{Tool: "WebFetch"}, {Tool: "Bash"}, {Tool: "Bash"}}
	for name, c := range map[string]struct {
		exit ended
		code job.Code
		says string
	}{
		"exit 0":              {ended{Known: true}, job.CodeNoCallback, "without submitting"},
		"exit 0, denied":      {ended{Known: true, Last: &transcript.Result{Denials: denied}}, job.CodeNoCallback, "denied 3 tool calls (Bash, WebFetch)"},
		"exit 1":              {ended{Known: true, Code: 1, Stderr: " bad\n option "}, job.CodeCrashed, "exit code 1): bad option"},
		"killed":              {ended{Known: true, Code: -1, Signal: "killed"}, job.CodeCrashed, "(killed)"},
		"adopted":             {ended{}, job.CodeNoCallback, "without submitting"},
		"turns used up":       {failed(transcript.Result{Subtype: "error_max_turns"}), job.CodeNoCallback, "Raise max_turns"},
		"budget":              {failed(transcript.Result{Subtype: "error_max_budget_usd"}), job.CodeBudget, "max_budget_usd"},
		"wrong output":        {failed(transcript.Result{Subtype: "error_max_structured_output_retries"}), job.CodeInvalidResult, "did not fit"},
		"wrong key":           {failed(transcript.Result{APIStatus: 401, Text: "API Error: 401"}), job.CodeSignedOut, "Set ANTHROPIC_API_KEY"},
		"revoked":             {failed(transcript.Result{APIStatus: 403, Text: "Failed to authenticate: OAuth token revoked. Please log in again."}), job.CodeSignedOut, "Set ANTHROPIC_API_KEY"},
		"not logged in":       {failed(transcript.Result{Text: "Not logged in · Please run /login"}), job.CodeSignedOut, "Set ANTHROPIC_API_KEY"},
		"too many":            {failed(transcript.Result{APIStatus: 429, Text: "Too Many"}), job.CodeRateLimit, "too many requests"},
		"used up":             {failed(transcript.Result{APIStatus: 429, APIError: "usage_limit_reached", Text: "You've hit"}), job.CodeUsageLimit, "usage limit"},
		"used up, earlier":    {failed(transcript.Result{Text: "Claude AI usage limit reached|1760000000"}), job.CodeUsageLimit, "usage limit"},
		"no credit":           {failed(transcript.Result{APIStatus: 400, APIErrorType: "invalid_request_error", Text: "Credit balance is too low"}), job.CodeUsageLimit, "Credit balance"},
		"overloaded":          {failed(transcript.Result{APIStatus: 529, APIErrorType: "overloaded_error"}), job.CodeOverloaded, "overloaded"},
		"a user's words":      {ended{Known: true, Last: &transcript.Result{Text: "It says: usage limit reached, run /login"}}, job.CodeNoCallback, "without submitting"},
		"the API's own error": {failed(transcript.Result{Text: "API Error: 500"}), job.CodeCrashed, "with an error: API Error: 500"},
	} {
		code, message := c.exit.explain()
		must.Equal(t, c.code, code, name)
		must.Contain(t, message, c.says, name)
	}
}

// FuzzReader feeds a stream in two ways; how it is cut must not matter.
func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"type\":\"result\"}\n{"), 3)
	f.Add([]byte("\n\n{\"type\":\"assistant\",\"message\":{\"content\":5}}"), 1)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		whole, pieces := new(claude.Reader), new(claude.Reader)
		_, _ = whole.Write(bytes.Clone(stream))
		whole.Close()
		for piece := range slices.Chunk(stream, max(1, min(cut, len(stream)))) {
			_, _ = pieces.Write(piece)
		}
		pieces.Close()
		if whole.Usage() != pieces.Usage() || (whole.Result == nil) != (pieces.Result == nil) {
			t.Error("it matters how the stream is cut")
		}
	})
}

func TestPromptSaysWhichYesIsUsedUp(t *testing.T) {
	t.Parallel()
	kinds, _ := kind.Load(kind.Builtin())
	k, _ := kinds.Get("ship")
	yes := job.Reply{Decision: job.Approve}
	text, err := claude.Prompt{
		Kind: k, Input: []byte(`{}`), Callback: claude.Callback{BaseURL: "http://127.0.0.1:1", RequestID: "req_00_a", Signature: "s"},
		Answers: []job.Checkpoint{{ID: "chk_1", Message: "Ship it?", Reply: &yes}, {ID: "chk_2", Message: "Ship the other?", Reply: &yes}},
		UsedUp:  []job.CheckpointID{"chk_1"},
	}.Later("replied", "")
	must.OK(t, err)
	first, second, _ := strings.Cut(text, "Ship the other?")
	if !strings.Contains(first, "allows nothing more") || strings.Contains(second, "allows nothing more") {
		t.Errorf("the prompt reads:\n%s", text)
	}
}

func TestCommandLineOverMCP(t *testing.T) {
	t.Parallel()
	registry, problems := kind.Load(kind.Source{
		Prompts: fstest.MapFS{
			"plain.md":   {Data: []byte("---\ncallback: mcp\nactions: [{name: deploy, webhook: 'https://deploy.example'}]\n---\nDo it.")},
			"own.md":     {Data: []byte("---\ncallback: mcp\nallowed_tools: [WebFetch]\n---\nDo it.")},
			"others.md":  {Data: []byte("---\ncallback: mcp\nallowed_tools: [mcp__recipes__find]\n---\nDo it.")},
			"careful.md": {Data: []byte("---\ncallback: mcp\ntools: {ask: [Bash], allow: [Read]}\nallowed_tools: [Glob]\n---\nDo it.")},
			"code.md":    {Data: []byte("---\ncallback: mcp\nworkspace: {repositories: [{url: /srv/service.git}]}\n---\nDo it.")},
		},
		Schemas: fstest.MapFS{"code.result.json": {Data: []byte(`{"properties":{"suggestions":{"type":"array","items":{"type":"string"}}}}`)}},
	})
	must.OK(t, schema.Join(problems))
	const callbacks = "mcp__ringback__report_progress,mcp__ringback__submit_result,mcp__ringback__report_failure,mcp__ringback__ask_user"
	for name, want := range map[string][]string{
		"plain":   {"--tools", "Read", "--mcp-config", "/jobs/1/mcp.json", "--strict-mcp-config", "--allowedTools", callbacks + ",mcp__ringback__deploy"},
		"own":     {"--tools", "Read,WebFetch", "--mcp-config", "/jobs/1/mcp.json", "--strict-mcp-config", "--allowedTools", "WebFetch," + callbacks},
		"others":  {"--mcp-config", "/jobs/1/mcp.json", "--allowedTools", "mcp__recipes__find," + callbacks},
		"careful": {"--tools", "Bash,Glob,Read", "--mcp-config", "/jobs/1/mcp.json", "--strict-mcp-config", "--allowedTools", callbacks},
		"code":    {"--tools", "Edit,Read,Write", "--mcp-config", "/jobs/1/mcp.json", "--strict-mcp-config", "--allowedTools", "Edit(./**)," + callbacks + ",mcp__ringback__submit_batch"},
	} {
		k, _ := registry.Get(name)
		args := claude.Args(claude.Turn{Kind: k, Conversation: "c", CallbackBaseURL: "http://localhost:3001", MCPConfig: "/jobs/1/mcp.json"})
		must.Equal(t, want, args[slices.Index(args, "c")+1:], name)
	}
}

func TestMCPConfig(t *testing.T) {
	t.Parallel()
	callback := claude.Callback{RequestID: "req_1", BaseURL: "http://localhost:3001/deep", Signature: "abc"}
	text := must.Get(claude.MCPConfig(callback, 45*time.Second))(t)
	const want = `{"mcpServers":{"ringback":{"alwaysLoad":true,"headers":{"X-Ringback-Request-Id":"req_1","X-Ringback-Signature":"abc"},` +
		`"timeout":105000,"type":"http","url":"http://localhost:3001/deep/api/claude/mcp"}}}`
	must.Equal(t, want, string(text))
}

// The CLI reports that a conversation has begun before it adds the prompt to it.
func TestWhenAConversationContainsItsPrompt(t *testing.T) {
	t.Parallel()
	const begun = `{"type":"system","subtype":"init"}` + "\n"
	for name, c := range map[string]struct {
		stream string
		want   bool
	}{
		"nothing was printed":            {"", false},
		"it has begun":                   {begun, false},
		"the API is asked again":         {begun + `{"type":"system","subtype":"api_retry"}` + "\n", false},
		"the model writes":               {begun + `{"type":"stream_event","event":{"type":"message_start"}}` + "\n", true},
		"the model has answered":         {begun + `{"type":"assistant","message":{"content":[]}}` + "\n", true},
		"the turn has ended":             {begun + `{"type":"result","is_error":true}` + "\n", true},
		"the conversation was not found": {`{"type":"result","is_error":true}` + "\n", false},
	} {
		var r claude.Reader
		must.Get(r.Write([]byte(c.stream)))(t)
		must.Equal(t, c.want, r.Prompted, name)
	}
}

// Claude's thinking is dropped unless it is to be kept, also of a line that was cut off; what only
// looks like it is kept.
func TestThinkingIsDropped(t *testing.T) {
	t.Parallel()
	const thought = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"x"}]}}` + "\n"
	const hidden = `{"type":"assistant","message":{"role":"assistant","content":[{"type": "redacted_thinking","data":"x"}]}}` + "\n"
	const call = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Write","input":{"a":[{"type":"thinking"}]}}]}}` + "\n"
	const result = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"thinking"}]}]}}` + "\n"
	for keep, want := range map[bool]string{false: call + result, true: thought + call + hidden + result + thought[:90]} {
		lines := claude.WholeLines{Thinking: keep}
		must.Equal(t, want, string(lines.Filter([]byte(thought+call+hidden+result+thought[:90]))), "keeping", keep, "it kept")
	}
}

// However the stream is cut between lines, the lines of messages that are being written are dropped,
// even if only the beginning of a line is in a piece.
func TestLinesOfPartialMessagesAreDropped(t *testing.T) {
	t.Parallel()
	const partial, whole, text = `{"type":"stream_event","event":{}}` + "\n", `{"type":"assistant","message":{}}` + "\n", "compiling stream_event\n"
	for name, pieces := range map[string][]string{
		"at once":    {partial + whole + partial + text},
		"by lines":   {partial, whole, partial, text},
		"long lines": {`{"type":"stream_event","event":{`, `"type":"stream_event"`, "}}\n" + `{"type":"assistant",`, `"message":{}}` + "\n" + partial + text},
	} {
		var lines claude.WholeLines
		var kept strings.Builder
		for _, piece := range pieces {
			kept.Write(lines.Filter([]byte(piece)))
		}
		must.Equal(t, whole+text, kept.String(), name, "kept")
	}
}

// Each line that is kept can be read by any parser of JSON.
func TestKeptLinesAreMended(t *testing.T) {
	t.Parallel()
	var lines claude.WholeLines
	kept := lines.Filter([]byte("{\"type\":\"user\",\"text\":\"a\xf0 \\ud83d b\"}\n{\"type\":\"user\""))
	must.Equal(t, "{\"type\":\"user\",\"text\":\"a\ufffd \ufffd b\"}\n{\"type\":\"user\"", string(kept), "kept")
}

func TestWhichToolCallsOnlyCallBack(t *testing.T) {
	t.Parallel()
	const post = "curl -sS -X POST http://localhost:3001/api/claude/result -H 'Content-Type: application/json' -d @result.json"
	for _, row := range []struct {
		tool, about, dir string
		want             bool
		because          string
	}{
		{"Bash", post, "/work", true, "it posts to a callback"},
		{"Bash", "ls", "/work", false, "it is another command"},
		{"Bash", "curl -sS -X POST http://localhost:3001/other", "/work", false, "it posts elsewhere"},
		{"Bash", "rm x # curl -sS -X POST http://localhost/api/claude/result", "/work", false, "that is but a comment"},
		{"Bash", post + "; rm x", "/work", false, "it does something else, too"},
		{"Bash", post + "\nrm x", "/work", false, "it does something else, too"},
		{"Bash", post + " -d $(id)", "/work", false, "it does something else, too"},
		{"Bash", post + " > x", "/work", false, "it does something else, too"},
		{"Write", "result.json", "/work", true, "it is a file that is posted"},
		{"Write", "/work/result.json", "/work", true, "it is a file that is posted"},
		{"Read", "/work/a/../result.json", "/work", true, "it is a file that is posted"},
		{"Write", "a/result.json", "/work", false, "it lies in another directory"},
		{"Write", "../result.json", "/work", false, "it lies in another directory"},
		{"Write", "main.go", "/work", false, "it is another file"},
		{"Edit", "/anywhere/result.json", "", true, "the directory is not known"},
		{"NotebookEdit", "result.json", "/work", false, "no payload is written by it"},
		{"mcp__ringback__submit_result", "", "/work", true, "it is a callback's tool"},
		{"mcp__ringbackup__submit_result", "", "/work", false, "it is another server's"},
		{"StructuredOutput", "", "/work", true, "the CLI hands over a result by it"},
	} {
		t.Run(row.tool+" "+row.about, func(t *testing.T) {
			t.Parallel()
			input := map[string]any{"command": row.about, "file_path": row.about}
			must.Equal(t, row.want, claude.IsCallbackCall(row.tool, input, row.dir), row.because)
		})
	}
}
