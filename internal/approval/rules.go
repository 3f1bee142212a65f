package approval

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Verdict is what becomes of what Claude wants done.
type Verdict string

// The verdicts. NoOpinion leaves a call of a tool to the CLI's own allowlist.
const (
	Allow     Verdict = "allow"
	Ask       Verdict = "ask"
	Deny      Verdict = "deny"
	NoOpinion Verdict = ""
)

// ToolRules say what becomes of a call of one of the CLI's tools, in the CLI's own
// notation: "Bash(git push *)", "Write(docs/**)", "WebFetch(domain:example.com)", or
// a tool's name alone for all its calls; "*" is every tool.
//
// Deny wins. Else a rule with a pattern goes before one without, and ask before
// allow: "ask: [Bash], allow: [Bash(ls *)]" asks for everything but ls. A call
// that no rule speaks of is left to allowed_tools; files in the working directory
// may be read and edited.
type ToolRules struct {
	// Allow lets calls through.
	Allow []string `yaml:"allow"`
	// Ask puts calls to a person first.
	Ask []string `yaml:"ask"`
	// Deny refuses calls.
	Deny []string `yaml:"deny"`
}

// Empty reports whether there are no rules: then nothing is intercepted.
func (r ToolRules) Empty() bool { return len(r.Allow)+len(r.Ask)+len(r.Deny) == 0 }

// Tools are the names of the tools that the rules let Claude use.
func (r ToolRules) Tools() []string {
	var names []string
	for _, text := range slices.Concat(r.Allow, r.Ask) {
		if rule, err := parseToolRule(text); err == nil && rule.tool != "*" {
			names = append(names, rule.tool)
		}
	}
	return names
}

// Fault says what is wrong with the first rule that is; empty where none is.
func (r ToolRules) Fault() string {
	for _, text := range slices.Concat(r.Allow, r.Ask, r.Deny) {
		rule, err := parseToolRule(text)
		if err != nil {
			return err.Error()
		}
		if isFileTool(rule.tool) && rule.pattern != "" && !doublestar.ValidatePattern(rule.pattern) {
			return fmt.Sprintf("%s: the pattern is not valid", text)
		}
	}
	return ""
}

// Verdict judges a call, and returns the rule that decided.
func (r ToolRules) Verdict(c ToolCall) (v Verdict, rule string) {
	if rule := first(r.Deny, c, part); rule != "" {
		return Deny, rule
	}
	if rule := first(r.Deny, c, unseen); rule != "" {
		return Ask, rule // whoever is asked sees whether it is what is denied
	}
	for _, patterned := range []bool{true, false} {
		if rule := first(those(r.Ask, patterned), c, unseen); rule != "" {
			return Ask, rule
		}
		if rule := first(those(r.Allow, patterned), c, whole); rule != "" {
			return Allow, rule
		}
	}
	if isFileTool(c.Name) && matchPath("**", c) == whole {
		return Allow, "in the working directory"
	}
	return NoOpinion, ""
}

// those are the rules with a pattern, or the ones without.
func those(rules []string, patterned bool) []string {
	return slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return strings.Contains(rule, "(") != patterned })
}

// first returns the first rule that matches at least as much of a call.
func first(rules []string, c ToolCall, atLeast extent) string {
	for _, text := range rules {
		if rule, err := parseToolRule(text); err == nil && rule.match(c) >= atLeast {
			return text
		}
	}
	return ""
}

// toolRule is a rule for a tool; "*" is every tool, an empty pattern every call.
type toolRule struct{ tool, pattern string }

var toolRuleText = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]*|\*)(?:\((.+)\))?$`)

func parseToolRule(text string) (toolRule, error) {
	m := toolRuleText.FindStringSubmatch(text)
	if m == nil {
		return toolRule{}, fmt.Errorf("found %q; expected a rule such as Bash, Bash(git push *) or Write(docs/**)", text)
	}
	if m[1] == "*" && m[2] != "" {
		return toolRule{}, fmt.Errorf("found %q; * takes no pattern", text)
	}
	return toolRule{m[1], m[2]}, nil
}
