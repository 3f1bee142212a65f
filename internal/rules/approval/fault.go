package approval

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ringback/internal/text/spelling"
)

// Fault describes what is wrong with the first invalid rule. A rule that no call can match
// is invalid too. It returns "" if all rules are valid.
func (r ToolRules) Fault() string {
	for _, text := range slices.Concat(r.Allow, r.Ask, r.Deny) {
		rule, err := parseToolRule(text)
		if err != nil {
			return err.Error()
		}
		if fault := cmp.Or(rule.nameFault(), rule.patternFault()); fault != "" {
			return fmt.Sprintf("%s: %s", text, fault)
		}
	}
	return ""
}

// Readable reports whether all rules can be parsed. The others are ignored.
func (r ToolRules) Readable() bool { return len(r.rules()) == len(r.Allow)+len(r.Ask)+len(r.Deny) }

// NameFault describes what is wrong with the first rule whose tool is misspelt; "" if none is.
func (r ToolRules) NameFault() string {
	for _, rule := range r.rules() {
		if fault := rule.nameFault(); fault != "" {
			return fmt.Sprintf("%s: %s", rule.text, fault)
		}
	}
	return ""
}

// Unknown returns the rules for tools of which nothing is known here. They are not invalid: a
// later version of the CLI may have these tools.
func (r ToolRules) Unknown() (rules []string) {
	for _, rule := range r.rules() {
		if !rule.isKnown() {
			rules = append(rules, rule.text)
		}
	}
	return rules
}

// Open returns the rules that allow programs with any arguments of which some may make them
// run others: in a sandbox they hold, and elsewhere they allow nothing.
func (r ToolRules) Open() (rules []string) {
	for _, rule := range parsed(Allow, r.Allow) {
		p := readShellPattern(rule.pattern)
		if rule.tool == "Bash" && !p.isExact() && !strings.HasPrefix(p.text, "*") && p.mayRunOthers(simpleCommand{words: p.words}) {
			rules = append(rules, rule.text)
		}
	}
	return rules
}

// nameFault describes a misspelt name. A name that resembles no known one is not misspelt: a
// later version of the CLI may have a tool of that name.
func (r toolRule) nameFault() string {
	if r.isKnown() {
		return ""
	}
	meant := spelling.Nearest(r.tool, knownTools())
	if server, ok := strings.CutPrefix(strings.ToLower(r.tool), "mcp__"); ok {
		meant = "mcp__" + server
	}
	if meant == "" {
		return ""
	}
	return fmt.Sprintf("no tool has that name; did you mean %s?", meant)
}

func (r toolRule) patternFault() string {
	switch {
	case r.pattern == "", r.tool == "WebSearch":
	case r.tool == "Bash":
		return shellFault(r.pattern)
	case isFileTool(r.tool):
		return fileFault(r.pattern)
	case r.tool == "WebFetch":
		return addressFault(r.pattern)
	case !strings.Contains("{*", r.pattern[:1]), !strings.Contains("}*", r.pattern[len(r.pattern)-1:]):
		return "the pattern can never match: it is compared with the whole input as JSON; write * for the rest of it, such as (*\"name\":\"x\"*)"
	}
	return ""
}

func shellFault(pattern string) string {
	text := strings.TrimSuffix(pattern, ":*")
	words, ok := wordsOf(text)
	switch {
	case !readable(text):
		return "the pattern can never match: it contains invisible characters"
	case strings.Contains(text, ":*"):
		return "the pattern can never match: :* is for the end only; elsewhere write *"
	case !ok:
		return "the pattern can never match: it is compared with one simple command, without variables, redirections or lists; write a rule for each"
	case strings.TrimSpace(text) != text, !strings.ContainsAny(text, `'"\`) && strings.Join(words, " ") != text:
		return "the pattern can never match: put one space between words, and none around them"
	case slices.ContainsFunc(
		words, func(word string) bool { return strings.Contains(word, "$") && !strings.ContainsAny(text, `'\`) },
	):
		return "the pattern can never match: rules have no variables"
	}
	return ""
}

func fileFault(pattern string) string {
	switch {
	case !doublestar.ValidatePattern(pattern):
		return "the pattern is not valid"
	case slices.ContainsFunc(strings.Split(pattern, "/"), func(name string) bool { return name == ".." }):
		return "the pattern can never match: .. is taken out of paths before they are compared"
	case strings.HasPrefix(pattern, "~") && !strings.HasPrefix(pattern, "~/"):
		return "the pattern can never match: ~ is followed by a slash"
	case strings.Contains(pattern, "file_path:"):
		return "the pattern can never match: it is a path alone"
	}
	return ""
}

func addressFault(pattern string) string {
	host, isDomain := strings.CutPrefix(pattern, "domain:")
	if !isDomain {
		scheme, at, rest := splitAddress(pattern)
		if scheme != "http" && scheme != "https" {
			return "the pattern can never match: expected domain:example.com, domain:*.example.com or an address that begins with http:// or https://"
		}
		if path, _ := readPath(rest); climbs(path) {
			return "the pattern can never match: it contains ., .. or a backslash"
		}
		named := url.URL{Host: at}
		host = named.Hostname()
	}
	if host = strings.TrimPrefix(host, "*."); host != "*" && plainHost(host) == "" {
		return fmt.Sprintf("the pattern can never match: found the host %q; expected letters, digits and hyphens (xn--… for others), with *. at most before it", host)
	}
	return ""
}
