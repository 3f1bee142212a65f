package approval

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Forbidden is what deny rules forbid to everything that runs for a job, not only to a tool
// that names it: files, and whole programs. A sandbox can hide these.
type Forbidden struct {
	Programs []string // Forbidden with any arguments.
	// Bases are the directories that may contain forbidden files, in addition to the job's
	// own directory.
	Bases []string

	unreadable, unwritable []string
}

// Forbidden returns what the deny rules forbid in the sandbox of a job that works in a
// directory. Rules for the home directory are omitted: it does not exist in a sandbox.
func (r ToolRules) Forbidden(dir string) Forbidden {
	var f Forbidden
	c := ToolCall{Dir: dir}
	for _, rule := range parsed(Deny, r.Deny) {
		switch {
		case rule.pattern == "":
		case rule.tool == "Bash":
			if program, ok := strings.CutSuffix(readShellPattern(rule.pattern).text, " *"); ok && !strings.ContainsAny(program, " /*") {
				f.Programs = append(f.Programs, program)
			}
		case strings.HasPrefix(rule.pattern, "~/"):
		case slices.Contains(finders, rule.tool):
			f.unreadable = append(f.unreadable, c.anywhere(rule.pattern)...)
		case slices.Contains(editors, rule.tool):
			f.unwritable = append(f.unwritable, c.anywhere(rule.pattern)...)
		}
	}
	for _, pattern := range slices.Concat(f.unreadable, f.unwritable) {
		if base, _ := doublestar.SplitPattern(pattern); base != "/" {
			f.Bases = append(f.Bases, strings.ReplaceAll(base, `\`, ""))
		}
	}
	return f
}

// Files reports whether any files are forbidden.
func (f Forbidden) Files() bool { return len(f.unreadable)+len(f.unwritable) > 0 }

// Unreadable reports whether a file, or a directory with its contents, may not be read.
func (f Forbidden) Unreadable(path string) bool { return matchesAny(f.unreadable, path) }

// Unwritable reports whether a file, or a directory with its contents, may not be written.
func (f Forbidden) Unwritable(path string) bool { return matchesAny(f.unwritable, path) }

func matchesAny(patterns []string, path string) bool {
	path = folded(path)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return doublestar.MatchUnvalidated(strings.TrimSuffix(folded(pattern), "/"), path)
	})
}
