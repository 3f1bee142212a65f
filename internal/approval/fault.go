package approval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Fault describes what is wrong with the first invalid rule. A rule that no call can match
// is invalid too. It returns "" if all rules are valid.
func (r ToolRules) Fault() string {
	for _, text := range slices.Concat(r.Allow, r.Ask, r.Deny) {
		rule, err := parseToolRule(text)
		if err != nil {
			return err.Error()
		}
		if fault := rule.fault(); fault != "" {
			return fmt.Sprintf("%s: %s", text, fault)
		}
	}
	return ""
}

var knownTools = slices.Concat([]string{"Bash", "WebFetch", "WebSearch", "Task", "TodoWrite"}, editors, readers, searchers)

func (r toolRule) fault() string {
	for _, tool := range knownTools {
		if r.tool != tool && strings.EqualFold(r.tool, tool) {
			return fmt.Sprintf("no tool has that name; expected %s", tool)
		}
	}
	switch {
	case r.pattern == "":
	case r.tool == "Bash":
		return shellFault(r.pattern)
	case isFileTool(r.tool):
		return fileFault(r.pattern)
	case r.tool == "WebFetch":
		return addressFault(r.pattern)
	}
	return ""
}

func shellFault(pattern string) string {
	text := strings.TrimSuffix(pattern, ":*")
	words, ok := wordsOf(text)
	switch {
	case strings.Contains(text, ":*"):
		return "the pattern can never match: :* is for the end only; elsewhere write *"
	case !ok:
		return "the pattern can never match: it is compared with one simple command, without variables, redirections or lists; write a rule for each"
	case strings.TrimSpace(text) != text, !strings.ContainsAny(text, `'"\`) && strings.Join(words, " ") != text:
		return "the pattern can never match: put one space between words, and none around them"
	case slices.ContainsFunc(
		words, func(word string) bool { return strings.Contains(word, "$") && !strings.ContainsAny(text, `'\`) },
	):
		return "the pattern can never match: a rule knows no variables"
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
		scheme, rest, ok := strings.Cut(pattern, "://")
		if !ok || scheme != "http" && scheme != "https" {
			return "the pattern can never match: expected domain:example.com, domain:*.example.com or an address that begins with http:// or https://"
		}
		host, _, _ = strings.Cut(rest, "/")
		if name, _, ok := strings.Cut(host, ":"); ok && !strings.HasPrefix(host, "[") {
			host = name
		}
	}
	host = strings.TrimPrefix(host, "*.")
	if host != "*" && plainHost(host) == "" {
		return fmt.Sprintf(
			"the pattern can never match: found the host %q; expected letters, digits and hyphens (xn--… for others), with *. at most before it",
			host,
		)
	}
	return ""
}
