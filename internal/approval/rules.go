package approval

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/lazy"
	"ringback/internal/literal"
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

// reaching are tools of the CLI by which a call runs something, or goes over the network,
// other than the model's own search.
var reaching = []string{"*", "Bash", "WebFetch", "Task", "Agent", "Skill"}

// Reaching are the rules by which Claude runs commands, reaches the network or uses tools
// of others (MCP) without that a person is asked. What a rule speaks of may be narrow: a
// test that it allows runs what Claude wrote.
func (r ToolRules) Reaching() []string {
	var found []string
	for _, rule := range parsed(r.Allow) {
		if slices.Contains(reaching, rule.tool) || strings.HasPrefix(rule.tool, "mcp__") {
			found = append(found, rule.text)
		}
	}
	return found
}

// Judgement is what becomes of a call, and why.
type Judgement struct {
	Verdict Verdict
	// Rule is the rule that decided, as the kind has it; empty if none did.
	Rule string
	// Why says how the call and the rule belong together.
	Why string
	// Permits is the rule that a yes for more than once permits, as Standing stores it: see
	// standing. For a call that nobody is asked about, it is what decided.
	Permits string
}

// Verdict judges a call, and returns the rule that decided; of a call that is asked for, what
// a yes for more than once permits.
func (r ToolRules) Verdict(c ToolCall) (v Verdict, rule string) {
	j := r.Judge(c)
	return j.Verdict, j.Permits
}

// Judge judges a call.
func (r ToolRules) Judge(c ToolCall) Judgement {
	if rule := first(parsed(r.Deny), c, part); rule != nil {
		return Judgement{Deny, rule.text, rule.why(c), rule.text}
	}
	least := hidden
	if r.allowsExactly(c) {
		least = unseen
	}
	if rule := first(parsed(r.Deny), c, least); rule != nil {
		return Judgement{Ask, rule.text, "it cannot be seen whether the call does what this rule denies", exactly(c)}
	}
	c.Masked = false // that is of no use to rules that ask
	for _, patterned := range []bool{true, false} {
		asking := those(r.Ask, patterned)
		if rule := first(asking, c, least); rule != nil {
			return Judgement{Ask, rule.text, rule.why(c), rule.standing(c, asking)}
		}
		if rule := first(those(r.Allow, patterned), c, whole); rule != nil {
			return Judgement{Allow, rule.text, rule.why(c), rule.text}
		}
	}
	if c.isFree() {
		const here = "in the working directory"
		return Judgement{Allow, "", "files in the working directory may be read and edited", here}
	}
	return Judgement{NoOpinion, "", "no rule speaks of all that the call does", ""}
}

// why says how much of a call the rule is about.
func (r toolRule) why(c ToolCall) string {
	switch r.match(c) {
	case whole:
		return "all of the call matches"
	case part:
		return "a part of the call matches"
	default:
	}
	return "it cannot be seen whether the call matches"
}

// textField is the field of a tool's input that ParseToolCall fills with text.
var textField = map[string]string{
	"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path",
	"WebFetch": "url", "WebSearch": "query", "Glob": "pattern", "Grep": "pattern", "LS": "path",
}

// ParseToolCall reads a call as people write it: "Bash: make deploy", "Write: docs/a.md", or any
// tool with its input as JSON, "Task: {\"prompt\": \"x\"}".
func ParseToolCall(text string) (ToolCall, error) {
	name, input, ok := strings.Cut(text, ":")
	c := ToolCall{Name: strings.TrimSpace(name), Input: map[string]any{}}
	input = strings.TrimSpace(input)
	rule, err := parseToolRule(c.Name)
	if !ok || err != nil || rule.pattern != "" || rule.tool == "*" {
		return c, fmt.Errorf("found %q; expected a tool and its input, such as Bash: make deploy", text)
	}
	if strings.HasPrefix(input, "{") {
		if err := job.UnmarshalExact([]byte(input), &c.Input); err != nil {
			return c, fmt.Errorf("the input of %s is not valid JSON: %w", c.Name, err)
		}
		return c, nil
	}
	field, known := textField[c.Name]
	if !known {
		return c, fmt.Errorf("give the input of %s as JSON, such as %s: {}", c.Name, c.Name)
	}
	c.Input[field] = input
	return c, nil
}

// allowsExactly reports whether a rule that leaves nothing open allows a shell command.
func (r ToolRules) allowsExactly(c ToolCall) bool {
	return c.Name == "Bash" && slices.ContainsFunc(parsed(r.Allow), func(rule toolRule) bool { return rule.isExact() && rule.match(c) == whole })
}

// isExact reports whether the rule is for one shell command, word for word.
func (r toolRule) isExact() bool {
	return r.tool == "Bash" && r.pattern != "" && readShellPattern(r.pattern).isExact()
}

// standing is the rule that a yes for more than once permits, of a call that the rule
// asks for: the rule itself, where it is about all that the call does, that can be
// seen, and no other rule asks for it as well; else exactly this call. A yes to what
// could not be judged is none to whatever else cannot be.
func (r toolRule) standing(c ToolCall, asking []toolRule) string {
	others := slices.DeleteFunc(slices.Clone(asking), func(other toolRule) bool { return other.text == r.text })
	switch {
	case r.match(c) != whole, !r.isExact() && !seen(c), first(others, c, hidden) != nil:
		return exactly(c)
	case r.tool == "*":
		return c.Name
	}
	return r.text
}

// seen reports whether a call does nothing but what its text shows.
func seen(c ToolCall) bool {
	if c.Name != "Bash" {
		return true
	}
	command, _ := c.Input["command"].(string)
	return c.understood(parseShell(command))
}

// longestExact is how many characters of an input are shown as a rule.
const longestExact = 500

// exactly is a rule for one call and no other: for the whole input, as it is shown. It is
// none of those that a kind can have, so that it permits nothing that looks like a
// pattern for more.
func exactly(c ToolCall) string {
	if text := literal.Value(c.Input); text != "" && len(text) <= longestExact {
		return c.Name + ": " + text
	}
	digest, err := digestOf(c.Input)
	if err != nil { // it cannot be identified, so that no other is the same
		return c.Name + ": " + rand.Text()
	}
	return c.Name + ": the input with the digest " + digest
}

// parsed reads rules; those that are none speak of nothing.
func parsed(texts []string) []toolRule {
	var rules []toolRule
	for _, text := range texts {
		if rule, err := parseToolRule(text); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// those are the rules with a pattern, or the ones without.
func those(texts []string, patterned bool) []toolRule {
	return slices.DeleteFunc(parsed(texts), func(rule toolRule) bool { return (rule.pattern != "") != patterned })
}

// first returns the first rule that matches at least as much of a call.
func first(rules []toolRule, c ToolCall, atLeast extent) *toolRule {
	for _, rule := range rules {
		if rule.match(c) >= atLeast {
			return &rule
		}
	}
	return nil
}

// toolRule is a rule for a tool; "*" is every tool, an empty pattern every call.
type toolRule struct{ text, tool, pattern string }

var toolRuleText = lazy.Regexp(`^([A-Za-z_][A-Za-z0-9_-]*|mcp__[A-Za-z0-9_-]*\*|\*)(?:\((.+)\))?$`)

func parseToolRule(text string) (toolRule, error) {
	m := toolRuleText().FindStringSubmatch(text)
	if m == nil {
		return toolRule{}, fmt.Errorf("found %q; expected a rule such as Bash, Bash(git push *) or Write(docs/**)", text)
	}
	if m[1] == "*" && m[2] != "" {
		return toolRule{}, fmt.Errorf("found %q; * takes no pattern", text)
	}
	if m[1] == "Bash" && (m[2] == "*" || m[2] == ":*") {
		m[2] = "" // it is every call
	}
	return toolRule{text, m[1], m[2]}, nil
}
