package approval

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// The tools that edit files, read one, and search directories. In the CLI's notation,
// a rule for Edit is one for all that edit, and a rule for Read one for all that read.
var (
	editors   = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	readers   = []string{"Read", "NotebookRead"}
	searchers = []string{"Grep", "Glob", "LS"}
)

func isFileTool(name string) bool {
	return slices.Contains(editors, name) || slices.Contains(readers, name) || slices.Contains(searchers, name)
}

// isFor reports whether a rule for one tool is about the calls of another.
func isFor(rule, tool string) bool {
	switch {
	case rule == "*", rule == tool:
		return true
	case strings.HasPrefix(rule, "mcp__"): // mcp__server, mcp__server__*: all of a server's tools
		if beginning, ok := strings.CutSuffix(rule, "*"); ok {
			return strings.HasPrefix(tool, beginning)
		}
		return strings.Count(rule, "__") == 1 && strings.HasPrefix(tool, rule+"__")
	case rule == "Edit":
		return slices.Contains(editors, tool)
	case rule == "Read":
		return slices.Contains(readers, tool) || slices.Contains(searchers, tool)
	}
	return false
}

// filePlace is a file, or a directory with all that lies in it, that a call is about.
type filePlace struct {
	// written is its whole path as the call has it, resolved the one that symbolic
	// links lead to.
	written, resolved string
	// tree is whether all that lies in it is meant.
	tree bool
	// unclear is whether it cannot be told which file that is.
	unclear bool
}

// matchPath compares the files of a call with a pattern. What is allowed must match
// as it is written and where it leads to; for what is denied one of the two will do,
// in capitals or not.
func matchPath(pattern string, c ToolCall) extent {
	places := c.places()
	if len(places) == 0 {
		return unseen
	}
	matched := whole
	most := none
	for _, place := range places {
		m := c.matchPlace(pattern, place)
		matched, most = min(matched, m), max(most, m)
	}
	if matched == whole {
		return whole
	}
	return min(most, part)
}

func (c ToolCall) matchPlace(pattern string, place filePlace) extent {
	if place.unclear {
		return unseen
	}
	paths := []string{place.written, place.resolved}
	covered := func(path string) bool { return c.covers(pattern, path, place.tree) }
	switch {
	case covered(paths[0]) && covered(paths[1]):
		return whole
	case slices.ContainsFunc(paths, func(path string) bool { return c.touches(pattern, path) }):
		return part
	case place.tree && slices.ContainsFunc(paths, func(path string) bool { return c.mayHold(pattern, path) }):
		return unseen
	}
	return none
}

// covers reports whether a pattern is about a file, or about all of a directory,
// for sure.
func (c ToolCall) covers(pattern, path string, tree bool) bool {
	for _, p := range c.anchored(pattern) {
		if doublestar.MatchUnvalidated(p, path) && (!tree || strings.HasSuffix(p, "**")) {
			return true
		}
	}
	return false
}

// touches reports whether a pattern may be about a file: it or a directory it lies in
// matches, without regard to capitals, at the place that the pattern says, or, where
// it says none, anywhere.
func (c ToolCall) touches(pattern, path string) bool {
	patterns := c.anchored(pattern)
	switch {
	case strings.HasPrefix(pattern, "//"), strings.HasPrefix(pattern, "~/"):
	case strings.HasPrefix(pattern, "/"): // others read it as a whole path
		patterns = append(patterns, filepath.Clean(pattern))
	case strings.HasPrefix(pattern, "**"):
		patterns = append(patterns, "/"+pattern)
	case !strings.Contains(strings.TrimSuffix(pattern, "/"), "/"): // a name, as in .gitignore
		patterns = append(patterns, "/**/"+strings.TrimSuffix(pattern, "/"))
	}
	path = folded(path)
	for _, p := range patterns {
		p = strings.TrimSuffix(folded(p), "/")
		for at := path; ; at = filepath.Dir(at) {
			if doublestar.MatchUnvalidated(p, at) {
				return true
			}
			if at == "/" || at == "." {
				break
			}
		}
	}
	return false
}

// mayHold reports whether something in a directory may match a pattern.
func (c ToolCall) mayHold(pattern, dir string) bool {
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		return true // a name, which may be anywhere
	}
	for _, p := range c.anchored(pattern) {
		base, _ := doublestar.SplitPattern(p)
		base, dir := folded(base), folded(dir)
		if within(dir, base) || within(base, dir) {
			return true
		}
	}
	return strings.HasPrefix(pattern, "**")
}

// anchored is a pattern for whole paths, as the CLI reads it: //path is a whole path,
// ~/path lies in the home directory, /path, path and ./path in the job's own one.
func (c ToolCall) anchored(pattern string) []string {
	if strings.HasSuffix(pattern, "/") { // a directory is all that lies in it
		pattern += "**"
	}
	switch {
	case strings.HasPrefix(pattern, "//"):
		return []string{filepath.Clean(pattern)}
	case strings.HasPrefix(pattern, "~/"):
		if c.Home == "" {
			return nil
		}
		return []string{escapePattern(filepath.Clean(c.Home)) + "/" + pattern[2:]}
	}
	return []string{escapePattern(c.root()) + "/" + strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")}
}

// escapePattern makes a directory a pattern for itself.
var escapePattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace

// folded is a path as a file system knows it that makes no difference of capitals
// and of the ways to write a letter.
func folded(path string) string { return cases.Fold().String(norm.NFC.String(path)) }

// within reports whether a path is a directory or lies in it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// places are the files that a call is about.
func (c ToolCall) places() []filePlace {
	var places []filePlace
	tree := slices.Contains(searchers, c.Name)
	for _, path := range pathsIn(c.Input) {
		places = append(places, c.place(path, tree))
	}
	if tree && len(places) == 0 {
		places = append(places, c.place(".", true))
	}
	if pattern, _ := c.Input["pattern"].(string); c.Name == "Glob" && leads(pattern) {
		places = append(places, filePlace{unclear: true})
	}
	if glob, _ := c.Input["glob"].(string); leads(glob) {
		places = append(places, filePlace{unclear: true})
	}
	return places
}

// leads reports whether a pattern of a search may lead out of the directory searched.
func leads(pattern string) bool {
	return strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~") || strings.Contains(pattern, "..") || strings.ContainsAny(pattern, "\\\x00")
}

// pathsIn are the values of all fields that name a file, however deep.
func pathsIn(v any) (paths []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			text, ok := value.(string)
			switch {
			case ok && (name == "path" || strings.HasSuffix(name, "_path")):
				if text != "" {
					paths = append(paths, text)
				}
			case name == "paths" || strings.HasSuffix(name, "_paths"):
				list, _ := value.([]any)
				for _, item := range list {
					if text, ok := item.(string); ok {
						paths = append(paths, text)
					}
				}
			default:
				paths = append(paths, pathsIn(value)...)
			}
		}
	case []any:
		for _, value := range v {
			paths = append(paths, pathsIn(value)...)
		}
	}
	return paths
}

// place finds where a path of a call leads to.
func (c ToolCall) place(path string, tree bool) filePlace {
	written, ok := c.absolute(path)
	place := filePlace{written: written, resolved: written, tree: tree, unclear: !ok}
	if ok && c.Resolve != nil {
		place.resolved, ok = c.Resolve(written)
		place.unclear = !ok || c.climbsFromLink(path)
	}
	return place
}

// climbsFromLink reports whether a path goes up from a symbolic link: to programs that
// shorten it first, that leads back to where the link lies, to the system to what lies
// above the link's target.
func (c ToolCall) climbsFromLink(path string) bool {
	names := strings.Split(path, "/")
	for i, name := range names {
		if name != ".." {
			continue
		}
		below, ok := c.absolute(strings.Join(names[:i], "/"))
		if !ok || i == 0 {
			continue
		}
		if resolved, ok := c.Resolve(below); !ok || resolved != below {
			return true
		}
	}
	return false
}

// absolute is a path as a whole; false where programs may read it otherwise.
func (c ToolCall) absolute(path string) (string, bool) {
	if strings.TrimSpace(path) != path || strings.Contains(path, `\`) || strings.Contains(path, ":/") || !readable(path) || strings.ContainsAny(path, "\n\t") {
		return "", false
	}
	switch {
	case path == "~", strings.HasPrefix(path, "~/"):
		return filepath.Join(c.Home, path[1:]), c.Home != ""
	case strings.HasPrefix(path, "~"), strings.HasPrefix(path, "$"):
		return "", false
	case filepath.IsAbs(path):
		return filepath.Clean(path), true
	}
	return filepath.Join(c.Dir, path), true
}

// protected are what of a working directory is not edited without being asked for:
// git and the CLI run what stands in there.
var protected = []string{".git", ".claude", ".mcp.json", ".claude.json"}

// isFree reports whether a call is about files in the working directory, which may be
// read and edited where no rule speaks of them.
func (c ToolCall) isFree() bool {
	if !isFileTool(c.Name) || slices.Contains(searchers, c.Name) || matchPath("**", c) != whole {
		return false
	}
	if !slices.Contains(editors, c.Name) {
		return true
	}
	return !slices.ContainsFunc(c.places(), func(place filePlace) bool {
		names := strings.Split(folded(place.written+"/"+place.resolved), "/")
		return slices.ContainsFunc(protected, func(name string) bool { return slices.Contains(names, name) })
	})
}

// matchFilesOf compares the files that a shell command names with the pattern of a
// rule for files: what may not be read is not printed by cat either, and whoever is
// asked sees what it is about.
func matchFilesOf(pattern string, call ToolCall) extent {
	command, _ := call.Input["command"].(string)
	s := parseShell(command)
	names := slices.Clone(s.files)
	for _, c := range s.commands {
		for _, word := range c.words[1:] {
			names = append(names, word)
			if _, value, ok := strings.Cut(word, "="); ok {
				names = append(names, value)
			}
			names = append(names, strings.TrimLeft(word, "-@<"))
		}
	}
	unmasked := strings.NewReplacer(maskedBlank, " ", maskedAsterisk, "*")
	for _, name := range names {
		path, ok := call.absolute(unmasked.Replace(name))
		if ok && name != "" && call.touches(pattern, path) {
			return unseen
		}
	}
	return none
}
