package kind

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/rules/schema"
	"ringback/internal/text/lazy"
)

// Callback is a way to call back.
type Callback string

// The ways to call back: see "Two ways to call back" in docs/callbacks.md.
const (
	Curl Callback = "curl" // makes Claude write payloads to files and post them with curl
	MCP  Callback = "mcp"  // gives Claude a tool for each callback, and no shell
)

// The tools with which Claude calls back over MCP, in addition to one for each action,
// which has the action's name.
const (
	ReportProgress = "report_progress"
	SubmitResult   = "submit_result"
	SubmitBatch    = "submit_batch"
	ReportFailure  = "report_failure"
	AskUser        = "ask_user"
)

var ownTools = []string{ReportProgress, SubmitResult, SubmitBatch, ReportFailure, AskUser}

// IsActionTool reports whether a tool of CallbackTools is an action.
func IsActionTool(name string) bool { return !slices.Contains(ownTools, name) }

// OverMCP reports whether Claude calls back over MCP in jobs of the kind.
func (k *Kind) OverMCP() bool { return k.Policy.Callback == MCP }

// FitsMCP reports whether a kind that calls back with curl would lose nothing over MCP: Claude only
// reads its input and answers, without files or commands of its own.
func (k *Kind) FitsMCP() bool {
	if k.OverMCP() || k.Policy.Workspace != nil || k.Policy.RunsPrograms() {
		return false
	}
	overMCP := *k
	overMCP.Policy.Callback = MCP
	return len(checkTools(&overMCP)) == 0 && !strings.Contains(k.Prompt, VarSignature)
}

// CallbackTools returns the names of the tools with which Claude calls back over MCP in
// jobs of the kind.
func (k *Kind) CallbackTools() []string {
	names := []string{ReportProgress, SubmitResult, ReportFailure, AskUser}
	if k.Batchable() {
		names = append(names, SubmitBatch)
	}
	for _, a := range k.Policy.Actions {
		names = append(names, a.Name)
	}
	return names
}

// longestTool limits the name of an action that is a tool: the model's API accepts
// names of 64 characters, and the CLI puts mcp__ringback__ before each.
const longestTool = 64 - len("mcp__ringback__")

// checkTools finds parts of a kind that the model's API would refuse as a tool, together
// with each request of the job.
func checkTools(k *Kind) (problems []Problem) {
	if !k.OverMCP() || k.Result == nil {
		return nil
	}
	if fault := toolSchemaFault(k.Result); fault != "" {
		problems = append(problems, Problem{Message: "callback: mcp: the result's schema " + fault, Hint: useCurl})
	}
	for _, a := range k.Policy.Actions {
		if a == nil || a.schema == nil { // reported already
			continue
		}
		if sendsHeaders(a.schema) {
			problems = append(problems, a.problem("input: with callback: mcp, x-mcp-header is not allowed", "", "input"))
		}
		if !IsActionTool(a.Name) {
			const message = "with callback: mcp, this name is reserved for a tool of the server"
			problems = append(problems, a.problem(message, "Give the action another name.", "name"))
		}
		if len(a.Name) > longestTool {
			message := fmt.Sprintf("with callback: mcp, a name may have %d letters at most", longestTool)
			problems = append(problems, a.problem(message, "Give the action a shorter name.", "name"))
		}
	}
	return problems
}

const useCurl = "Put that below a property, or use callback: curl."

// toolProperty matches the names of a tool's arguments that the model's API accepts.
var toolProperty = lazy.Regexp(`^[a-zA-Z0-9_.-]{1,64}$`)

// toolSchemaFault returns why a schema cannot be that of a tool's arguments; empty if it can.
func toolSchemaFault(s *schema.Schema) string {
	shown, err := schema.Read(s.ForClaude())
	if err != nil {
		return err.Error()
	}
	top := shown.Root()
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		if top.Get(keyword) != nil {
			return "has " + keyword + " at its top, which the model's API refuses in a tool"
		}
	}
	if sendsHeaders(s) {
		return "holds x-mcp-header, by which MCP clients send values in headers"
	}
	for _, name := range top.Get("properties").Names() {
		if !toolProperty().MatchString(name) {
			return fmt.Sprintf("has the property %q; the model's API takes letters, digits, _ . and - in those of a tool, 64 at most", shorten(name))
		}
	}
	return ""
}

func sendsHeaders(s *schema.Schema) bool {
	return bytes.Contains(s.ForClaude(), []byte(`"x-mcp-header"`))
}
