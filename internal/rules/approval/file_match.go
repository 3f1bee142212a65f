package approval

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"ringback/internal/text/lazy"
)

// fileTarget is a file, or a directory with its contents, that a call refers to.
type fileTarget struct {
	// written is its absolute path as in the call; resolved has symbolic links followed.
	written, resolved string
	tree              bool // True for a directory including everything below it.
	ambiguous         bool // True if it is impossible to determine which file is meant.
}

// matchPath compares the files of a call with a pattern. To be allowed, a file must match
// both as written and as resolved. For a deny rule, either is enough, regardless of case.
func matchPath(pattern string, c ToolCall) extent {
	targets := c.targets()
	if len(targets) == 0 {
		return unclearMatch
	}
	matched := fullMatch
	most := noMatch
	for _, target := range targets {
		m := c.matchTarget(pattern, target)
		matched, most = min(matched, m), max(most, m)
	}
	if matched == fullMatch {
		return fullMatch
	}
	return min(most, partialMatch)
}

func (c ToolCall) matchTarget(pattern string, target fileTarget) extent {
	paths := []string{target.written, target.resolved}
	covered := func(path string) bool { return c.covers(pattern, path, target.tree) }
	switch {
	case target.ambiguous && (target.written == "" || !c.touches(pattern, target.written)):
		return unclearMatch
	case !target.ambiguous && covered(paths[0]) && covered(paths[1]):
		return fullMatch
	case slices.ContainsFunc(paths, func(path string) bool { return c.touches(pattern, path) }):
		return partialMatch
	case target.tree && slices.ContainsFunc(paths, func(path string) bool { return c.mayHold(pattern, path) }):
		return unclearMatch
	}
	return noMatch
}

// covers reports whether a pattern certainly covers a file, or everything in a directory.
func (c ToolCall) covers(pattern, path string, tree bool) bool {
	for _, p := range c.anchored(pattern) {
		if doublestar.MatchUnvalidated(p, path) && (!tree || strings.HasSuffix(p, "**")) {
			return true
		}
	}
	return false
}

// touches reports whether a pattern may cover a file: the file or a directory above it
// matches, ignoring case, at the location that the pattern names, or anywhere if it names
// none.
func (c ToolCall) touches(pattern, path string) bool {
	patterns := c.anywhere(pattern)
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

// anywhere returns patterns for absolute paths, for all directories that the pattern may
// refer to.
func (c ToolCall) anywhere(pattern string) []string {
	patterns := c.anchored(pattern)
	switch {
	case strings.HasPrefix(pattern, "//"), strings.HasPrefix(pattern, "~/"):
	case strings.HasPrefix(pattern, "/"): // other tools read it as an absolute path
		patterns = append(patterns, filepath.Clean(pattern))
	case strings.HasPrefix(pattern, "**"):
		patterns = append(patterns, "/"+pattern)
	case !strings.Contains(strings.TrimSuffix(pattern, "/"), "/"): // a bare name, as in .gitignore
		patterns = append(patterns, "/**/"+strings.TrimSuffix(pattern, "/"))
	}
	return patterns
}

// mayHold reports whether something in a directory may match a pattern.
func (c ToolCall) mayHold(pattern, dir string) bool {
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		return true // a bare name, which may be anywhere
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

// anchored returns patterns for absolute paths, as the CLI reads them: //path is an
// absolute path, ~/path is in the home directory, and /path, path and ./path are in the
// job's own directory.
func (c ToolCall) anchored(pattern string) []string {
	if strings.HasSuffix(pattern, "/") { // a directory matches everything in it
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

// escapePattern turns a directory into a pattern that matches exactly that directory.
var escapePattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace

// folded returns a path as a case- and normalization-insensitive file system compares it.
func folded(path string) string { return cases.Fold().String(norm.NFC.String(path)) }

func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func (c ToolCall) targets() []fileTarget {
	var targets []fileTarget
	tree := slices.Contains(searchers, c.Name)
	for _, path := range pathsIn(c.Input) {
		targets = append(targets, c.target(path, tree))
	}
	if tree && len(targets) == 0 {
		targets = append(targets, c.target(".", true))
	}
	if pattern, _ := c.Input["pattern"].(string); c.Name == "Glob" && leads(pattern) {
		targets = append(targets, fileTarget{ambiguous: true})
	}
	if glob, _ := c.Input["glob"].(string); leads(glob) {
		targets = append(targets, fileTarget{ambiguous: true})
	}
	return targets
}

// plainBraces are alternatives in a search pattern that cannot begin a path or be a part of "..".
var plainBraces = lazy.Regexp(`\{[\w*-][\w.*-]*(,[\w*-][\w.*-]*)*\}`)

// leads reports whether a search pattern may lead out of the directory searched.
func leads(pattern string) bool {
	pattern = plainBraces().ReplaceAllString(pattern, "x")
	return strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~") || strings.ContainsAny(pattern, "\\\x00{(") ||
		slices.ContainsFunc([]string{"..", "[.", "[/"}, func(part string) bool { return strings.Contains(pattern, part) })
}

// pathsIn returns the values of all fields that name a file, at any depth.
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

// target resolves a path of a call. Some programs clean a path first, so that ".." refers to
// the directory that contains a link; the system follows the link. If the two differ, it is
// unclear which file is meant.
func (c ToolCall) target(path string, tree bool) fileTarget {
	absolute, ok := c.absolutePath(path)
	if !ok {
		return fileTarget{tree: tree, ambiguous: true}
	}
	written := filepath.Clean(absolute)
	target := fileTarget{written: written, resolved: written, tree: tree}
	if c.Resolve != nil {
		shortened, known := c.Resolve(written)
		walked, too := c.Resolve(absolute)
		target.ambiguous = !known || !too || walked != shortened
		if !target.ambiguous {
			target.resolved = walked
		}
	}
	return target
}

// absolutePath returns an absolute path that is not cleaned. It returns false if programs may
// read the path differently.
func (c ToolCall) absolutePath(path string) (string, bool) {
	if strings.TrimSpace(path) != path || strings.Contains(path, `\`) || strings.Contains(path, ":/") || !readable(path) ||
		strings.ContainsAny(path, "\n\t") {
		return "", false
	}
	switch {
	case path == "~", strings.HasPrefix(path, "~/"):
		return c.Home + path[1:], c.Home != ""
	case strings.HasPrefix(path, "~"), strings.HasPrefix(path, "$"):
		return "", false
	case filepath.IsAbs(path):
		return path, true
	}
	return c.Dir + "/" + path, true
}

// protected are names in a working directory that are not edited without asking: git and
// the CLI run what these files contain.
var protected = []string{".git", ".claude", ".mcp.json", ".claude.json"}

// isFree reports whether a call only touches files in the working directory, which may be
// read and edited if no rule covers them.
func (c ToolCall) isFree() bool {
	if !isFileTool(c.Name) || slices.Contains(searchers, c.Name) || matchPath("**", c) != fullMatch {
		return false
	}
	if !slices.Contains(editors, c.Name) {
		return true
	}
	return !slices.ContainsFunc(c.targets(), func(target fileTarget) bool {
		names := strings.Split(folded(target.written+"/"+target.resolved), "/")
		return slices.ContainsFunc(protected, func(name string) bool { return slices.Contains(names, name) })
	})
}

// mostNames is the maximum number of files named by a command that are looked up.
const mostNames = 4000

// namesOnly are plain programs that do not open the files named by their arguments.
var namesOnly = setOf(": [ arch basename cd command dirname df echo exit expr factor false find id kill ls nproc numfmt printenv printf ps pwd readlink realpath return seq sleep " +
	"stat test tree true tty type umask uname wait which whoami yes")

// gitNamesOnly are subcommands of git that show no content of files, current or past.
var gitNamesOnly = setOf("branch describe ls-files ls-tree rev-list rev-parse status version")

// matchFilesOf compares the files that a shell command may reach with the pattern of a file
// rule: a file that may not be read is not printed by cat either, and a person who is asked
// sees what the command touches. A command that is not understood may reach every file; git
// may reach everything the repository ever contained.
func (r toolRule) matchFilesOf(call ToolCall) extent {
	pattern, s := r.pattern, call.script
	names := slices.Clone(s.files)
	for _, c := range s.commands {
		operands, _ := c.operands()
		names = append(names, operands...)
	}
	named := func(name string) bool {
		path, ok := call.absolutePath(unmasked(name))
		return ok && name != "" && call.touches(pattern, filepath.Clean(path))
	}
	switch {
	case len(names) > mostNames || slices.ContainsFunc(names, named):
		return unclearMatch
	case r.verdict == Deny && call.Masked && !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~"):
		return noMatch
	case !s.understood(), call.mayLead(pattern, s.files, false),
		len(s.commands) > 1 && slices.ContainsFunc(s.commands, simpleCommand.leadsElsewhere),
		slices.ContainsFunc(s.commands, func(c simpleCommand) bool { return (c.plain || !c.answered) && call.mayReach(pattern, c) }):
		return indirectMatch
	}
	return noMatch
}

// mostLetters is the maximum number of letters of a word that may be short options before the value of the last
// one.
const mostLetters = 30

// operands returns what the arguments of a command may name. certain is false if they may name more.
func (c simpleCommand) operands() (operands []string, certain bool) {
	certain = true
	for _, word := range c.words[1:] {
		certain = certain && !strings.ContainsAny(word, "*?[") && (!isShort(word) || len(word) <= mostLetters)
		operands = append(operands, filesIn(word)...)
	}
	return slices.Compact(operands), certain
}

// filesIn returns what a word may name: itself, a value (--from=.env, HEAD:.env, @.env), or the
// value of the last one of several short options (-vt.env).
func filesIn(word string) []string {
	names := []string{word, strings.TrimLeft(word, "-@<")}
	for _, before := range []string{"=", ":"} {
		if _, value, ok := strings.Cut(word, before); ok {
			names = append(names, value)
		}
	}
	if isShort(word) {
		for at := 2; at < min(len(word), mostLetters); at++ {
			names = append(names, word[at:])
		}
	}
	return names
}

func isShort(word string) bool { return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") }

// deepPrograms are plain programs that open, move or create files in a directory that an argument
// names; deepLetters are short options that make others do so.
var (
	deepPrograms = setOf("diff ln mv rg")
	deepLetters  = map[string]string{"cp": "bPS"}
)

// isDeep reports whether a plain command may open, move or create other files than its arguments.
func (c simpleCommand) isDeep() bool {
	letters := "arRdL" + deepLetters[c.name()]
	return deepPrograms[c.name()] || slices.ContainsFunc(c.words[1:], func(word string) bool {
		return strings.HasPrefix(word, "--") || isShort(word) && strings.ContainsAny(word, letters)
	})
}

// leadsElsewhere reports whether paths may lead to other files after a plain command: it changes the
// directory, or creates or moves links.
func (c simpleCommand) leadsElsewhere() bool {
	return c.name() == "cd" || slices.Contains([]string{"cp", "ln", "mv"}, c.name()) && c.isDeep()
}

// mayReach reports whether a plain command may open a file that a pattern covers under
// another name than the pattern's: through a link, a shell glob, or a directory.
func (c ToolCall) mayReach(pattern string, command simpleCommand) bool {
	switch {
	case namesOnly[command.name()]:
		return false
	case command.name() == "git":
		return !command.answered && (len(command.words) < 2 || !gitNamesOnly[command.words[1]])
	}
	operands, certain := command.operands()
	deep := command.isDeep()
	switch {
	case !certain:
		return true
	case command.answered: // for the directories that it names, but links may lead anywhere
		return c.mayLead(pattern, operands, false) || deep && c.mayLead(pattern, slices.DeleteFunc(operands, c.isNoLink), true)
	case deep && command.name() != "diff":
		operands = append(operands, ".")
	}
	return c.mayLead(pattern, operands, deep) || command.createsIn() && c.mayCreate(pattern, operands, command.words[1:])
}

// createsIn reports whether a plain command may create a file in a directory that an argument names,
// with a name from another argument.
func (c simpleCommand) createsIn() bool { return c.name() == "cp" || c.name() == "mktemp" }

// mayCreate reports whether a pattern covers a file that has the name of one of the words, in one of
// the directories.
func (c ToolCall) mayCreate(pattern string, dirs, words []string) bool {
	if len(dirs)*len(words) > mostNames {
		return true
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		var names []string
		for _, word := range words {
			names = append(names, dir+"/"+filepath.Base(word))
		}
		return dir != "" && c.mayLead(pattern, names, false)
	})
}

func (c ToolCall) isNoLink(word string) bool {
	target := c.target(unmasked(word), true)
	return !target.ambiguous && target.written == target.resolved
}

// mayLead reports whether a word may lead to a file that a pattern covers or, if deep, to a
// directory that contains one.
func (c ToolCall) mayLead(pattern string, words []string, deep bool) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return word != "" && c.matchTarget(pattern, c.target(unmasked(word), deep)) != noMatch
	})
}

// unmasked returns a word as the program receives it.
func unmasked(word string) string {
	return strings.NewReplacer(maskedBlank, " ", maskedAsterisk, "*").Replace(word)
}
