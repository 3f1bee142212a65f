package approval

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
	"ringback/internal/text/literal"
)

// Verdict is what happens to something that Claude wants to do.
type Verdict string

// The verdicts. NoOpinion leaves a tool call to the CLI's own allowlist.
const (
	Allow     Verdict = "allow"
	Ask       Verdict = "ask"
	Deny      Verdict = "deny"
	NoOpinion Verdict = ""
)

// ToolRules decide what happens to a call of one of the CLI's tools, in the CLI's own
// notation: "Bash(git push *)", "Write(docs/**)", "WebFetch(domain:example.com)", or a
// tool's name alone for all its calls; "*" is every tool.
//
// Deny wins. Otherwise a rule with a pattern takes precedence over one without, and ask
// over allow: "ask: [Bash], allow: [Bash(ls *)]" asks for everything but ls. A call that no
// rule covers is left to allowed_tools; files in the working directory may be read and
// edited.
type ToolRules struct {
	Allow []string `yaml:"allow"`
	Ask   []string `yaml:"ask"`
	Deny  []string `yaml:"deny"`
}

// Empty reports whether there are no rules; then no call is intercepted.
func (r ToolRules) Empty() bool { return len(r.Allow)+len(r.Ask)+len(r.Deny) == 0 }

// Tools returns the names of the tools that the rules let Claude use.
func (r ToolRules) Tools() []string {
	var names []string
	for _, rule := range r.rules() {
		if rule.verdict != Deny && rule.tool != "*" {
			names = append(names, rule.tool)
		}
	}
	return names
}

// reaching are tools of the CLI that run something or access the network, other than the
// model's own search.
var reaching = slices.Concat(shells, []string{"*", "WebFetch", "Agent", "Skill", "Workflow"})

// Reaching returns the rules that let Claude run commands, access the network or use
// third-party (MCP) tools without asking a person. Even a narrow rule counts: a test that
// it allows runs code that Claude wrote.
func (r ToolRules) Reaching() []string {
	var found []string
	for _, rule := range parsed(Allow, r.Allow) {
		if slices.Contains(reaching, nameOf(rule.tool)) || strings.HasPrefix(rule.tool, "mcp__") {
			found = append(found, rule.text)
		}
	}
	return found
}

// Judgement is what happens to a call, and why.
type Judgement struct {
	Verdict Verdict
	Rule    string // The rule that decided, as the kind wrote it; empty if none did.
	// Why describes how the rule applies to the call.
	Why string
	// Permits is the rule that an approval for more than once permits, as Standing stores
	// it; see standing. If no person is asked about the call, it is the rule that decided.
	Permits string
}

// Denies returns the rule that denies a call with another input, such as one that a person has
// changed; "" if none does.
func (r ToolRules) Denies(c ToolCall, input map[string]any) string {
	c.Input = input
	if j := r.Judge(c); j.Verdict == Deny {
		return j.Rule
	}
	return ""
}

// Judge judges a call.
func (r ToolRules) Judge(c ToolCall) Judgement {
	c.Name = nameOf(c.Name)
	allow, ask, deny := parsed(Allow, r.Allow), parsed(Ask, r.Ask), parsed(Deny, r.Deny)
	if c.isShell() {
		c = c.withScript(allow)
	}
	if rule := first(deny, c, partialMatch); rule != nil {
		return Judgement{Verdict: Deny, Rule: rule.text, Why: rule.why(c), Permits: rule.text}
	}
	if rule := first(deny, c, indirectMatch); rule != nil {
		return Judgement{
			Verdict: Ask, Rule: rule.text,
			Why: "it is not certain that the call does nothing that this rule denies", Permits: exactly(c),
		}
	}
	for _, hasPattern := range []bool{true, false} {
		asking := where(ask, hasPattern)
		if rule := first(asking, c, indirectMatch); rule != nil {
			return Judgement{Verdict: Ask, Rule: rule.text, Why: rule.why(c), Permits: rule.standing(c, asking)}
		}
		if rule := first(where(allow, hasPattern), c, fullMatch); rule != nil {
			return Judgement{Verdict: Allow, Rule: rule.text, Why: rule.why(c), Permits: rule.text}
		}
		if hasPattern && c.script != nil && c.script.allowing != nil {
			rule := c.script.allowing.text
			return Judgement{Verdict: Allow, Rule: rule, Why: "this rule and others match all of its commands", Permits: rule}
		}
	}
	if c.isFree() {
		const here = "in the working directory"
		return Judgement{Verdict: Allow, Why: "files in the working directory may be read and edited", Permits: here}
	}
	return Judgement{Verdict: NoOpinion, Why: "no rule covers all that the call does"}
}

func (r toolRule) why(c ToolCall) string {
	switch r.match(c) {
	case fullMatch:
		return "all of the call matches"
	case partialMatch:
		return "a part of the call matches"
	default:
	}
	return "it is not certain whether the call matches"
}

// textField is the input field that ParseToolCall sets for each tool.
var textField = map[string]string{
	"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path",
	"NotebookEdit": "notebook_path",
	"WebFetch":     "url", "WebSearch": "query", "Glob": "pattern", "Grep": "pattern", "LS": "path",
}

// ParseToolCall parses a call as people write it: "Bash: make deploy", "Write: docs/a.md",
// or any tool with its input as JSON, "Task: {\"prompt\": \"x\"}".
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

func (r toolRule) isExact() bool {
	return r.tool == "Bash" && r.pattern != "" && readShellPattern(r.pattern).isExact()
}

// standing returns the rule that an approval for more than once permits, for a call that
// the rule asks for. That is the rule itself if it covers everything the call does, all of
// that can be seen, and no other rule asks for the call; otherwise it is exactly this call. A
// program that may run others depends on its directory: make test runs what lies there. So a rule
// permits it in the job's own only.
// Approving one call that could not be judged does not approve other such calls.
func (r toolRule) standing(c ToolCall, asking []toolRule) string {
	others := slices.DeleteFunc(slices.Clone(asking), func(other toolRule) bool { return other.text == r.text })
	notUnderstood := r.pattern == "" && c.script != nil && !c.script.understood()
	elsewhere := c.Place != "" && c.script != nil && slices.ContainsFunc(
		c.script.commands, func(s simpleCommand) bool { return !s.plain },
	)
	if notUnderstood || elsewhere || r.match(c) != fullMatch || first(others, c, indirectMatch) != nil {
		return exactly(c)
	}
	allowing := r
	allowing.verdict = Allow
	switch {
	case r.tool == "*":
		return c.Name
	case r.standsFor("Edit"), r.standsFor("Read"), allowing.isFor(c.Name):
		return r.inNotation()
	}
	return exactly(c)
}

// inNotation returns the rule in the CLI's notation, so that it covers what it says: a rule for one
// tool that edits, or that reads, is one for all of them.
func (r toolRule) inNotation() string {
	for _, class := range []string{"Edit", "Read"} {
		if r.standsFor(class) {
			return strings.Replace(r.text, r.tool, class, 1)
		}
	}
	return r.text
}

// longestExact is the maximum length of an input that is shown as a rule, in bytes.
const longestExact = 500

// exactly returns a rule for one call only: for the whole input, as it is shown, in the directory of
// the call. A kind cannot contain such a rule, so it never permits calls that look like a broader
// pattern.
func exactly(c ToolCall) string {
	where := ""
	if c.Place != "" && dependsOnDir(c.Name, c.Input) {
		where = " in the directory " + literal.Quote(c.Place)
	}
	if text := literal.Value(c.Input); text != "" && len(text) <= longestExact {
		return c.Name + ": " + text + where
	}
	digest, err := digestOf(c.Input)
	if err != nil { // it cannot be identified, so no other input is the same
		return c.Name + ": " + rand.Text()
	}
	return c.Name + ": the input with the digest " + digest + where
}

func (r ToolRules) rules() []toolRule {
	return slices.Concat(parsed(Allow, r.Allow), parsed(Ask, r.Ask), parsed(Deny, r.Deny))
}

// parsed parses rules with the same verdict and skips invalid ones.
func parsed(verdict Verdict, texts []string) []toolRule {
	var rules []toolRule
	for _, text := range texts {
		if rule, err := parseToolRule(text); err == nil {
			rule.verdict = verdict
			rules = append(rules, rule)
		}
	}
	return rules
}

// where returns the rules with a pattern, or those without.
func where(rules []toolRule, hasPattern bool) []toolRule {
	return slices.DeleteFunc(slices.Clone(rules), func(rule toolRule) bool { return (rule.pattern != "") != hasPattern })
}

// first returns the first rule whose match with a call is at least atLeast.
func first(rules []toolRule, c ToolCall, atLeast extent) *toolRule {
	for _, rule := range rules {
		if rule.match(c) >= atLeast {
			return &rule
		}
	}
	return nil
}

// toolRule is a rule for a tool. "*" is every tool, and an empty pattern every call.
type toolRule struct {
	text, tool, pattern string
	verdict             Verdict
}

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
		m[2] = "" // every call
	}
	return toolRule{text: text, tool: m[1], pattern: m[2]}, nil
}
