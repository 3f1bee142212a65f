package claude

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/kind"
)

// Turn is what a command line depends on.
type Turn struct {
	Kind *kind.Kind
	// Conversation is a UUID; Resume goes on with it instead of beginning it.
	Conversation string
	Resume       bool
	// CallbackBaseURL is where curl may post.
	CallbackBaseURL string
	// Hold is how long a call that asks the user may take to answer.
	Hold time.Duration
	// Settings is a file of further settings; empty for none.
	Settings string
	// MCPConfig is the file of the MCP server by which the kind calls back; empty where it
	// does not.
	MCPConfig string
	// Questions is set if Claude may ask the user with the CLI's own tools. Settings must have their
	// calls judged.
	Questions bool
	// Structured takes the result from the CLI's structured output, without curl.
	Structured bool
	// Fallback is the model that the CLI goes on with while the other is overloaded; empty
	// for none.
	Fallback string
	// Extra is added at the end.
	Extra []string
}

// Args returns the CLI's arguments. The prompt goes to standard input; nothing
// secret is among the arguments.
func Args(t Turn) []string {
	p := t.Kind.Policy
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--max-turns", strconv.Itoa(p.MaxTurns),
		// Else the hooks of a repository in the working directory would run, and the
		// CLAUDE.md of each folder above it be read.
		"--setting-sources", "user",
	}
	if t.Resume {
		args = append(args, "--resume", t.Conversation)
	} else {
		args = append(args, "--session-id", t.Conversation)
	}
	allowed := allowedTools(t)
	if t.Questions {
		// Without a permission prompt, the CLI does not offer the tools. This one is asked on standard
		// output and answered on standard input, which has ended by then: the CLI refuses the call, and
		// Claude continues.
		args = append(args, "--permission-prompt-tool", "stdio")
		allowed = append(allowed, AskUserQuestion)
		if writesFiles(slices.Concat(allowed, p.AllowedTools, p.Tools.Tools())) { // a plan is a file, too
			allowed = append(allowed, EnterPlanMode, ExitPlanMode)
		}
	}
	tools, known := offeredTools(slices.Concat(allowed, p.AllowedTools, p.Tools.Tools()))
	if known {
		args = append(args, "--tools", tools)
	}
	if t.MCPConfig != "" {
		args = append(args, "--mcp-config", t.MCPConfig)
	}
	if t.MCPConfig != "" && known { // nobody needs the servers that the CLI's user has
		args = append(args, "--strict-mcp-config")
	}
	if len(allowed) > 0 {
		args = append(args, "--allowedTools", strings.Join(allowed, ","))
	}
	if t.Settings != "" {
		args = append(args, "--settings", t.Settings)
	}
	if p.Thinking { // by default, the CLI asks for less of it, or for none
		args = append(args, "--thinking-display", "summarized")
	}
	if p.Model != "" {
		args = append(args, "--model", p.Model)
	}
	if t.Fallback != "" {
		args = append(args, "--fallback-model", t.Fallback)
	}
	if p.MaxBudgetUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(p.MaxBudgetUSD, 'f', -1, 64))
	}
	if t.Structured {
		args = append(args, "--json-schema", string(t.Kind.Result.ForClaude()))
	}
	return append(args, t.Extra...)
}

// payloads are the callbacks, below /api/claude/, and the file that each posts.
var payloads = []struct{ endpoint, file string }{
	{"progress", "progress.json"},
	{"suggestions", "result.json"},
	{"suggestions/batch", "batch.json"},
	{"result", "result.json"},
	{"failure", "failure.json"},
	{"checkpoints", "checkpoint.json"},
}

// actionFile is what a call of an action posts.
const actionFile = "action.json"

func actionEndpoint(name string) string { return "actions/" + name }

// PayloadFiles are the names of the files that Claude writes to call back.
func PayloadFiles() []string {
	names := []string{actionFile}
	for _, p := range payloads {
		names = append(names, p.file)
	}
	return names
}

// allowedTools is the kind's own list, plus what calling back needs: files in
// the working directory, and each callback's one command. The rules are exact:
// a prefix would let further URLs, files and options of curl through. Over MCP, that is
// the callbacks' tools; files are for kinds that work on some, or say so.
//
// Where calls are intercepted, only calling back is allowed here: should the
// interception be away, nothing else runs.
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
		tools = append(tools, "Edit(./**)") // in the CLI's notation, Write as well
	}
	for _, p := range payloads {
		tools = append(tools, "Bash("+curl(t.CallbackBaseURL, p.endpoint, p.file, t.Hold)+")")
	}
	for _, a := range t.Kind.Policy.Actions {
		tools = append(tools, "Bash("+curl(t.CallbackBaseURL, actionEndpoint(a.Name), actionFile, t.Hold)+")")
	}
	return tools
}

// writesFiles reports whether rules let Claude write files.
func writesFiles(rules []string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool {
		name, _, _ := strings.Cut(rule, "(")
		return name == "Edit" || name == "Write"
	})
}

// offeredTools names the built-in tools that Claude gets to see: those it may
// use. The descriptions of all of them would be two thirds of each request. A
// kind that uses tools of other MCP servers gets everything, for the CLI may need
// more than it says to load those.
func offeredTools(allowed []string) (list string, ok bool) {
	names := []string{"Read"} // allowed without a rule, in the working directory
	for _, rule := range allowed {
		name, _, _ := strings.Cut(rule, "(")
		if strings.HasPrefix(name, MCPTool("")) {
			continue // it is offered by itself
		}
		if strings.HasPrefix(name, "mcp__") {
			return "", false
		}
		names = append(names, name)
		if name == "Edit" {
			names = append(names, "Write")
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ","), true
}

// curl is a command in the one shape that an exact rule lets through: one line,
// literal values, the payload from a file. The file stands in double quotes,
// since the CLI takes a bare @file in a prompt for a wish to have it attached.
//
// A call that may ask the user has hold longer to answer.
//
// curl repeats failed attempts, but no 4xx except 408 and 429, with exponential
// backoff and heeds Retry-After. All attempts together stay below the two
// minutes after which the CLI kills a command.
func curl(baseURL, endpoint, file string, hold time.Duration) string {
	patience := 15
	if endpoint == "checkpoints" || strings.HasPrefix(endpoint, actionEndpoint("")) {
		patience += int(hold.Seconds())
	}
	return "curl -sS -X POST " + baseURL + "/api/claude/" + endpoint +
		" -H 'Content-Type: application/json' --retry 6 --retry-all-errors --retry-max-time 60 -m " + strconv.Itoa(patience) +
		` -d "@` + file + `"`
}
