package approval

import (
	"path/filepath"
	"strings"

	"ringback/internal/job"
)

// ToolCall is a call of one of the CLI's tools.
type ToolCall struct {
	Name  string
	Input map[string]any
	Dir   string // The working directory, which relative paths are relative to.
	Root  string // The job's own directory, which contains Dir; empty if they are the same.
	Place string // Dir as job.Operation has it: relative to Root, and empty for Root itself.
	Home  string // The home directory of the CLI; empty if unknown.
	// Resolve returns the target of an absolute path, which may contain "..", by walking it
	// as the system does. It returns false if the target is unknown. If nil, there are no
	// links.
	Resolve func(path string) (target string, ok bool)
	// PlainRepository reports whether the repository that git finds from Dir makes git run
	// no other program. If nil, that is unknown.
	PlainRepository func() bool
	// Masked is true if the call runs in a sandbox. There, files in the job's own directory that
	// deny rules forbid are hidden from what the job runs, so that no command can reach them by
	// another name, and a program that a rule names can do no more than the sandbox lets it.
	Masked bool

	script *shellScript // of a shell command
}

func (c ToolCall) root() string {
	if c.Root != "" {
		return filepath.Clean(c.Root)
	}
	return filepath.Clean(c.Dir)
}

// atRoot reports whether the working directory is the job's own: a relative path to a
// program in a rule is relative to that directory.
func (c ToolCall) atRoot() bool {
	return c.root() == filepath.Clean(c.Dir) && c.Place == "" // on another node, only the place is known
}

// extent is how much of a call a rule covers. To be allowed, a call must match as a whole.
// To be asked for or denied, a part is enough. What cannot be seen is asked for, unless the
// author of a rule that allows it answers for what it may do.
type extent int

const (
	noMatch       extent = iota
	indirectMatch        // it runs a program that may do anything, including what the rule covers
	unclearMatch         // its words do not show whether the rule covers it
	partialMatch         // it does what the rule covers, and maybe something else
	fullMatch            // it does what the rule covers, and nothing else
)

func (r toolRule) match(c ToolCall) extent {
	if c.isShell() && r.pattern != "" && isFileTool(r.tool) {
		return r.matchFilesOf(c)
	}
	switch {
	case !r.isFor(c.Name):
		return noMatch
	case r.pattern == "":
		return fullMatch
	case r.tool == "Bash":
		return matchShell(r.pattern, c)
	case isFileTool(c.Name):
		return matchPath(r.pattern, c)
	case c.Name == "WebFetch":
		address, _ := c.Input["url"].(string)
		return matchAddress(r.pattern, address)
	}
	return r.matchInput(c)
}

// matchInput compares the input of any other tool, as JSON, or the query of a search. A rule that
// asks or denies ignores case.
func (r toolRule) matchInput(c ToolCall) extent {
	input := job.PlainJSON(c.Input)
	if input == nil {
		return unclearMatch
	}
	texts := []string{string(input)}
	if query, ok := c.Input["query"].(string); ok && c.Name == "WebSearch" {
		texts = append(texts, query)
	}
	for _, text := range texts {
		if wildcard(r.pattern, text) || r.guards() && wildcard(strings.ToLower(r.pattern), strings.ToLower(text)) {
			return fullMatch
		}
	}
	return noMatch
}

// wildcard matches text against a pattern in which * is any text. A pattern that ends in "
// *" also matches if nothing follows.
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
