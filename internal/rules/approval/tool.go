package approval

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Tools that run shell commands, edit files, read one file, and search directories. In the
// CLI's notation, a rule for Edit covers all editors, and a rule for Read covers all readers
// and searchers.
var (
	shells    = []string{"Bash", "Monitor", "PowerShell"}
	editors   = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	readers   = []string{"Read", "NotebookRead"}
	searchers = []string{"Grep", "Glob", "LS"}
	finders   = slices.Concat(readers, searchers)
)

// otherNames are names under which the CLI also accepts a tool, in this version or an
// earlier one.
var otherNames = map[string]string{
	"Task": "Agent", "KillShell": "TaskStop", "KillBash": "TaskStop", "BashOutput": "TaskOutput", "BashOutputTool": "TaskOutput",
	"AgentOutput": "TaskOutput", "AgentOutputTool": "TaskOutput", "ListPeers": "ListAgents",
	"Brief": "SendUserMessage", "ProposeGoal": "SetGoal",
	"ListMcpResources": "ListMcpResourcesTool", "ReadMcpResource": "ReadMcpResourceTool",
	"ReadMcpResourceDir": "ReadMcpResourceDirTool",
}

// knownTools are the CLI's tools, as of version 2.1.329, and those of earlier versions.
var knownTools = sync.OnceValue(func() []string {
	names := strings.Fields(`Agent Artifact AskUserQuestion ClaudeDesign CronCreate CronDelete CronList EndConversation EnterPlanMode
		EnterWorktree Eval ExitPlanMode ExitWorktree Frame FrameRead ListAgents ListMcpResourcesTool
		LSP OfferChromeSetup Projects propose_skills
		PushNotification ReadMcpResourceDirTool ReadMcpResourceTool ReadNotifications RemoteTrigger REPL
		ReportFindings ScheduleWakeup SendFeedback
		SendMessage SendUserFile SendUserMessage SetGoal
		ShareOnboardingGuide ShowOnboardingRolePicker Skill SlashCommand StructuredOutput
		SubagentHandback TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete TodoWrite ToolSearch
		WaitForMcpServers WebFetch WebSearch Workflow`)
	return slices.Concat(names, shells, editors, finders, slices.Sorted(maps.Keys(otherNames)))
})

func nameOf(tool string) string {
	if name, ok := otherNames[tool]; ok {
		return name
	}
	return tool
}

func isFileTool(name string) bool {
	return slices.Contains(editors, name) || slices.Contains(finders, name)
}

// isKnown reports whether a tool of that name exists, as far as is known here: the tools of
// MCP servers are not.
func (r toolRule) isKnown() bool {
	return r.tool == "*" || strings.HasPrefix(r.tool, "mcp__") || slices.Contains(knownTools(), r.tool)
}

func (r toolRule) isFor(tool string) bool {
	rule := nameOf(r.tool)
	switch {
	case rule == "*", rule == tool:
		return true
	case strings.HasPrefix(rule, "mcp__"):
		return r.isForServer(tool)
	case rule == "Edit":
		return slices.Contains(editors, tool)
	case rule == "Read":
		return slices.Contains(finders, tool)
	}
	return r.guards() && r.standsFor(tool)
}

// standsFor reports whether a rule that asks or denies also covers another tool that does the
// same: otherwise Claude would use that one. A rule for a search without a pattern is for the
// search itself, not for files, which may still be read.
func (r toolRule) standsFor(tool string) bool {
	for _, class := range [][]string{shells, editors, finders} {
		if slices.Contains(class, r.tool) && slices.Contains(class, tool) {
			return r.pattern != "" || !slices.Contains(searchers, r.tool)
		}
	}
	return false
}

// isForServer reports whether a rule such as mcp__server or mcp__server__* covers a tool. One
// that asks or denies ignores case, and a server's name may contain two underscores.
func (r toolRule) isForServer(tool string) bool {
	rule := r.tool
	if r.guards() {
		rule, tool = strings.ToLower(rule), strings.ToLower(tool)
	}
	if beginning, ok := strings.CutSuffix(rule, "*"); ok {
		return strings.HasPrefix(tool, beginning)
	}
	return rule == tool || (r.guards() || strings.Count(rule, "__") == 1) && strings.HasPrefix(tool, rule+"__")
}

func (r toolRule) guards() bool { return r.verdict != Allow }
