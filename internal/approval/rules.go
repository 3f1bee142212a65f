package approval

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ToolRules says what becomes of a call of one of the CLI's tools, by rules in
// the CLI's own notation: "Bash(git push *)", "Write(docs/**)",
// "WebFetch(domain:example.com)", or a tool's name alone for all its calls.
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

// ToolCall is a call of one of the CLI's tools.
type ToolCall struct {
	Name  string
	Input map[string]any
	// Dir is the working directory, in which relative paths lie.
	Dir string
}

// Verdict is what becomes of what Claude wants done.
type Verdict string

// The verdicts. NoOpinion leaves it to the CLI's own allowlist.
const (
	Allow     Verdict = "allow"
	Ask       Verdict = "ask"
	Deny      Verdict = "deny"
	NoOpinion Verdict = ""
)

// Verdict judges a call, and returns the rule that decided.
func (r ToolRules) Verdict(c ToolCall) (v Verdict, rule string) {
	if rule := firstMatch(r.Deny, c, anyPart); rule != "" {
		if opaque(c) && strings.Contains(rule, "(") {
			return Ask, rule // it cannot be seen whether it is what is denied
		}
		return Deny, rule
	}
	withPattern := func(rules []string, has bool) []string {
		return slices.DeleteFunc(slices.Clone(rules), func(r string) bool { return strings.Contains(r, "(") != has })
	}
	for _, specific := range []bool{true, false} {
		if rule := firstMatch(withPattern(r.Ask, specific), c, anyPart); rule != "" {
			return Ask, rule
		}
		if rule := firstMatch(withPattern(r.Allow, specific), c, everyPart); rule != "" {
			return Allow, rule
		}
	}
	if isFileTool(c.Name) && pathMatches("**", c) {
		return Allow, "in the working directory"
	}
	return NoOpinion, ""
}

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

// extent says how much of a call a rule must match: any part of it to be asked
// for or denied, every part to be allowed.
type extent bool

const (
	anyPart   extent = false
	everyPart extent = true
)

func firstMatch(rules []string, c ToolCall, e extent) string {
	for _, text := range rules {
		if rule, err := parseToolRule(text); err == nil && rule.matches(c, e) {
			return text
		}
	}
	return ""
}

func (r toolRule) matches(c ToolCall, e extent) bool {
	// In the CLI's notation, a rule for Edit is one for all tools that edit.
	if r.tool != "*" && r.tool != c.Name && (r.tool != "Edit" || !slices.Contains(editors, c.Name)) {
		return false
	}
	if r.pattern == "" {
		return true
	}
	switch {
	case c.Name == "Bash":
		command, _ := c.Input["command"].(string)
		return shellMatches(r.pattern, command, e)
	case isFileTool(c.Name):
		return pathMatches(r.pattern, c)
	case c.Name == "WebFetch":
		return urlMatches(r.pattern, c)
	}
	text, err := json.Marshal(c.Input)
	return err != nil || wildcard(r.pattern, string(text))
}

var editors = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}

func isFileTool(name string) bool { return name == "Read" || slices.Contains(editors, name) }

// pathMatches compares the path of a file tool, as it lies in the working
// directory, or whole for a pattern that begins with a slash.
func pathMatches(pattern string, c ToolCall) bool {
	var path string
	for _, key := range []string{"file_path", "notebook_path", "path"} {
		if text, ok := c.Input[key].(string); ok && text != "" {
			path = text
			break
		}
	}
	if path == "" {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	path = filepath.Clean(path)
	if strings.HasPrefix(pattern, "/") {
		return doublestar.MatchUnvalidated(filepath.Clean(pattern), path)
	}
	relative, err := filepath.Rel(c.Dir, path)
	return err == nil && !strings.HasPrefix(relative, "..") && doublestar.MatchUnvalidated(strings.TrimPrefix(pattern, "./"), relative)
}

// wildcard matches text against a pattern in which * is any text. A pattern that
// ends in " *" matches without anything behind it too.
func wildcard(pattern, text string) bool {
	if base, ok := strings.CutSuffix(pattern, " *"); ok && wildcard(base, text) {
		return true
	}
	if base, ok := strings.CutSuffix(pattern, ":*"); ok {
		return wildcard(base+" *", text)
	}
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	if len(parts) == 1 {
		return rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

func urlMatches(pattern string, c ToolCall) bool {
	address, _ := c.Input["url"].(string)
	domain, isDomain := strings.CutPrefix(pattern, "domain:")
	if !isDomain {
		return wildcard(pattern, address)
	}
	host := hostOf(address)
	base, all := strings.CutPrefix(domain, "*.")
	return host == base || all && strings.HasSuffix(host, "."+base)
}
