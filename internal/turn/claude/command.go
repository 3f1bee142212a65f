package claude

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/rules/kind"
)

// Turn holds what a command line depends on.
type Turn struct {
	Kind *kind.Kind
	// Conversation is a UUID. If Resume is set, the CLI resumes the conversation instead of starting
	// it.
	Conversation string
	Resume       bool
	// CallbackBaseURL is the base URL that curl may post to.
	CallbackBaseURL string
	// Hold limits how long a call waits for the user's answer.
	Hold time.Duration
	// Settings is the path of an additional settings file; empty for none.
	Settings string
	// MCPConfig is the path of the configuration of the callbacks' MCP server; empty if
	// the kind does not call back over MCP.
	MCPConfig string
	// Questions is set if Claude may ask the user with the CLI's own tools. Settings must intercept
	// their calls.
	Questions bool
	// Structured takes the result from the CLI's structured output, without curl.
	Structured bool
	// Fallback is the model that the CLI uses while the first one is overloaded; empty for
	// none.
	Fallback string
	// Extra is appended to the arguments.
	Extra []string
}

// Args returns the CLI's arguments. The prompt goes to standard input; the arguments
// contain no secrets.
func Args(t Turn) []string {
	p := t.Kind.Policy
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--max-turns", strconv.Itoa(p.MaxTurns),
		// Otherwise the CLI would run the hooks of a repository in the working directory and
		// read the CLAUDE.md of each parent directory.
		"--setting-sources", "user",
	}
	if t.Resume {
		args = append(args, "--resume", t.Conversation)
	} else {
		args = append(args, "--session-id", t.Conversation)
	}
	allowed := allowedTools(t)
	if t.Questions {
		// Without a permission prompt, the CLI does not offer the tools. This one is sent on standard
		// output and answered on standard input. Standard input has ended by then, so the CLI refuses
		// the call and Claude continues.
		args = append(args, "--permission-prompt-tool", "stdio")
		allowed = append(allowed, AskUserQuestion)
		if writesFiles(slices.Concat(allowed, p.AllowedTools, p.Tools.Tools())) { // a plan is a file, too
			allowed = append(allowed, EnterPlanMode, ExitPlanMode)
		}
	}
	tools, known := offeredTools(slices.Concat(allowed, p.AllowedTools, p.Tools.Tools()))
	if known {
		args = append(args, "--tools", strings.Join(tools, ","))
	}
	option := func(name, value string) {
		if value != "" {
			args = append(args, name, value)
		}
	}
	option("--mcp-config", t.MCPConfig)
	if t.MCPConfig != "" && known { // excludes the servers of the CLI's user, which no turn needs
		args = append(args, "--strict-mcp-config")
	}
	option("--allowedTools", strings.Join(allowed, ","))
	option("--settings", t.Settings)
	if p.Thinking { // by default, the CLI asks for less of it, or for none
		option("--thinking-display", "summarized")
	}
	option("--model", p.Model)
	option("--fallback-model", t.Fallback)
	if p.MaxBudgetUSD > 0 {
		option("--max-budget-usd", strconv.FormatFloat(p.MaxBudgetUSD, 'f', -1, 64))
	}
	if t.Structured {
		args = append(args, "--json-schema", string(t.Kind.Result.ForClaude()))
	}
	return append(args, t.Extra...)
}

// payloads are the callback endpoints, below /api/claude/, and the file that each one posts.
var payloads = []struct{ endpoint, file string }{
	{"progress", "progress.json"},
	{"suggestions", "result.json"},
	{"suggestions/batch", "batch.json"},
	{"result", "result.json"},
	{"failure", "failure.json"},
	{"checkpoints", "checkpoint.json"},
}

const actionFile = "action.json"

func actionEndpoint(name string) string { return "actions/" + name }

// PayloadFiles returns the names of the files that Claude writes to call back.
func PayloadFiles() []string {
	names := []string{actionFile}
	for _, p := range payloads {
		names = append(names, p.file)
	}
	return names
}

// allowedTools returns the kind's own list, plus what calling back needs: files in the
// working directory, and the exact command of each callback. The rules are exact
// because a prefix would also allow other URLs, files and options of curl. Over MCP,
// calling back needs only the callbacks' tools; Claude may write files if the kind has
// a workspace or allows it.
//
// If calls are intercepted, only calling back is allowed here, so that nothing else
// runs should the interception fail.
func allowedTools(t Turn) []string {
	intercepted := !t.Kind.Policy.Tools.Empty()
	var tools []string
	if !intercepted {
		tools = slices.Clone(t.Kind.Policy.AllowedTools)
	}
	if t.Structured {
		return tools
	}
	if t.Kind.OverMCP() {
		if t.Kind.Policy.Workspace != nil && !intercepted {
			tools = append(tools, "Edit(./**)")
		}
		for _, name := range t.Kind.CallbackTools() {
			tools = append(tools, MCPTool(name))
		}
		return tools
	}
	if intercepted {
		for _, file := range PayloadFiles() {
			tools = append(tools, "Edit(./"+file+")")
		}
	} else {
		tools = append(tools, "Edit(./**)") // in the CLI's notation, this includes Write
	}
	for _, p := range payloads {
		tools = append(tools, "Bash("+Curl(t.CallbackBaseURL, p.endpoint, p.file, t.Hold)+")")
	}
	for _, a := range t.Kind.Policy.Actions {
		tools = append(tools, "Bash("+Curl(t.CallbackBaseURL, actionEndpoint(a.Name), actionFile, t.Hold)+")")
	}
	return tools
}

func writesFiles(rules []string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool {
		name, _, _ := strings.Cut(rule, "(")
		return name == "Edit" || name == "Write"
	})
}

// offeredTools returns the built-in tools that Claude gets to see: those it may use.
// The descriptions of all of them would be two thirds of each request. For a kind that
// uses tools of other MCP servers, ok is false and everything is offered, because the
// CLI may need undocumented tools to load those.
func offeredTools(allowed []string) (names []string, ok bool) {
	names = []string{"Read"} // allowed without a rule, in the working directory
	for _, rule := range allowed {
		name, _, _ := strings.Cut(rule, "(")
		if strings.HasPrefix(name, MCPTool("")) {
			continue // offered without a rule
		}
		if strings.HasPrefix(name, "mcp__") {
			return nil, false
		}
		names = append(names, name)
		if name == "Edit" {
			names = append(names, "Write")
		}
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// Delegates reports whether Claude may start subagents, which call back like Claude itself.
func Delegates(p kind.Policy) bool {
	offered, known := offeredTools(slices.Concat(p.AllowedTools, p.Tools.Tools()))
	return !known || slices.Contains(offered, "Agent") || slices.Contains(offered, "Task")
}

// CallbackURL returns the address of a callback endpoint.
func CallbackURL(baseURL, endpoint string) string { return baseURL + "/api/claude/" + endpoint }

// Curl returns a command in the one form that an exact rule allows: one line, literal
// values, the payload from a file. The file is in double quotes because the CLI
// attaches the file of a bare @file in a prompt.
//
// A call that may ask the user gets hold more time to answer.
//
// curl retries failed attempts with exponential backoff and honors Retry-After, but
// does not retry a 4xx except 408 and 429. All attempts together take less than the two
// minutes after which the CLI kills a command.
func Curl(baseURL, endpoint, file string, hold time.Duration) string {
	timeout := 15
	if endpoint == "checkpoints" || strings.HasPrefix(endpoint, actionEndpoint("")) {
		timeout += int(hold.Seconds())
	}
	return "curl -sS -X POST " + CallbackURL(baseURL, endpoint) +
		" -H 'Content-Type: application/json' --retry 6 --retry-all-errors --retry-max-time 60 -m " + strconv.Itoa(timeout) +
		` -d "@` + file + `"`
}

// IsCallbackCall reports whether a call of one of the CLI's tools is only a callback:
// people are shown its content instead of the call. It grants no permission; the CLI's
// own allowlist contains exactly these calls. dir is the working directory, empty if
// unknown.
func IsCallbackCall(tool string, input map[string]any, dir string) bool {
	if strings.HasPrefix(tool, MCPTool("")) {
		return true
	}
	switch tool {
	case "Bash":
		command, _ := input["command"].(string)
		return strings.HasPrefix(command, "curl -sS -X POST http") && strings.Contains(command, "/api/claude/") &&
			!strings.ContainsAny(command, "\n;&|<>$`")
	case "Write", "Edit", "Read":
		path, _ := input["file_path"].(string)
		return slices.Contains(PayloadFiles(), filepath.Base(path)) && (dir == "" || liesIn(dir, path))
	case "StructuredOutput": // the CLI itself submits a result with it
		return true
	}
	return false
}

func liesIn(dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Dir(filepath.Clean(path)) == filepath.Clean(dir)
}
