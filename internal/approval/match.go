package approval

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// ToolCall is a call of one of the CLI's tools.
type ToolCall struct {
	Name  string
	Input map[string]any
	// Dir is the working directory, in which relative paths lie.
	Dir string
	// Root is the job's own directory, in which Dir lies; empty where they are one.
	Root string
}

// atRoot reports whether the working directory is the job's own: a program that a
// rule names by a relative path lies there.
func (c ToolCall) atRoot() bool {
	return c.Root == "" || filepath.Clean(c.Dir) == filepath.Clean(c.Root)
}

// extent is how much of a call a rule is about. What is allowed must match as a
// whole; for what is asked for or denied a part is enough, and what cannot be seen
// is asked.
type extent int

const (
	none   extent = iota
	unseen        // it cannot be seen whether the rule is about it
	part          // it does what the rule is about, and maybe something else
	whole         // it does what the rule is about, and nothing else
)

func (r toolRule) match(c ToolCall) extent {
	// In the CLI's notation, a rule for Edit is one for all tools that edit.
	if r.tool != "*" && r.tool != c.Name && (r.tool != "Edit" || !slices.Contains(editors, c.Name)) {
		return none
	}
	switch {
	case r.pattern == "":
		return whole
	case c.Name == "Bash":
		return matchShell(r.pattern, c)
	case isFileTool(c.Name):
		return matchPath(r.pattern, c)
	case c.Name == "WebFetch":
		address, _ := c.Input["url"].(string)
		return matchAddress(r.pattern, address)
	}
	return matchInput(r.pattern, c.Input)
}

var editors = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}

func isFileTool(name string) bool { return name == "Read" || slices.Contains(editors, name) }

// matchPath compares the path of a file tool, as it lies in the working directory,
// or as a whole for a pattern that begins with a slash. Outside of the working
// directory, a pattern that begins with ** denies and asks, but allows nothing.
func matchPath(pattern string, c ToolCall) extent {
	path := pathOf(c)
	if path == "" {
		return none
	}
	matches := func(pattern, path string) bool { return doublestar.MatchUnvalidated(pattern, path) }
	relative, err := filepath.Rel(c.Dir, path)
	inside := err == nil && relative != ".." && !strings.HasPrefix(relative, "../")
	switch {
	case strings.HasPrefix(pattern, "/") && matches(filepath.Clean(pattern), path),
		inside && matches(strings.TrimPrefix(pattern, "./"), relative):
		return whole
	case !inside && strings.HasPrefix(pattern, "**") && matches(pattern, strings.TrimPrefix(path, "/")):
		return part
	}
	return none
}

// pathOf is the whole path of the file that a call is about; empty where it names none.
func pathOf(c ToolCall) string {
	for _, key := range []string{"file_path", "notebook_path", "path"} {
		path, _ := c.Input[key].(string)
		switch {
		case path == "":
		case filepath.IsAbs(path):
			return filepath.Clean(path)
		default:
			return filepath.Join(c.Dir, path)
		}
	}
	return ""
}

// matchAddress compares an address with "domain:example.com", "domain:*.example.com"
// or a pattern for all of it.
func matchAddress(pattern, address string) extent {
	domain, isDomain := strings.CutPrefix(strings.ToLower(pattern), "domain:")
	u := plainAddress(address)
	if u == nil || !isDomain && climbs(u.Path) {
		return unseen
	}
	base, all := strings.CutPrefix(domain, "*.")
	switch {
	case isDomain && (u.Host == base || all && strings.HasSuffix(u.Host, "."+base)):
		return whole
	case !isDomain && wildcard(pattern, address):
		return whole
	case !isDomain && wildcard(pattern, u.String()):
		return part
	}
	return none
}

// plainAddress reads an address of which every program makes the same; nil for one
// that a browser may read otherwise. Its host is without port, in small letters.
func plainAddress(address string) *url.URL {
	if strings.ContainsFunc(address, func(c rune) bool { return c > unicode.MaxASCII || c <= ' ' || c == '\\' }) {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	u.Host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if u.Host == "" {
		return nil
	}
	return u
}

// climbs reports whether a path leads elsewhere than its beginning says.
func climbs(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return name == "." || name == ".." })
}

// matchInput compares the input of any other tool, as JSON.
func matchInput(pattern string, input map[string]any) extent {
	text, err := json.Marshal(input)
	switch {
	case err != nil:
		return unseen
	case wildcard(pattern, string(text)):
		return whole
	}
	return none
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
