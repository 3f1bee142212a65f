package callback

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ringback/internal/sandbox/untrusted"
	"ringback/internal/text/lazy"
)

const mostLinks = 40

// resolveIn returns a function that resolves an absolute path the way the system does:
// name by name, with ".." relative to the resolved path so far. Names that do not exist
// yet are assumed to become directories.
//
// It fails if the job's own directory is not on this machine, if this user may not read
// a name, or below /proc, where links differ for each process.
//
// Claude may change a link between the question and the run. The sandbox protects
// against that; this function only shows what a call does now.
func resolveIn(root string) func(path string) (string, bool) {
	return func(path string) (string, bool) {
		if _, err := os.Lstat(root); err != nil || !filepath.IsAbs(path) {
			return "", false
		}
		w := walk{at: "/", rest: path}
		for w.rest != "" {
			if !w.step() {
				return "", false
			}
		}
		return asIn(root, w.at), true
	}
}

// asIn rewrites a path in a directory with the directory's own spelling, which may
// contain links.
func asIn(dir, place string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return place
	}
	if rest, inside := inDir(real, place); inside {
		return filepath.Join(dir, rest)
	}
	return place
}

// walk is a partly resolved path: at is the resolved part, free of links.
type walk struct {
	at, rest string
	links    int
}

// step follows the next name, and reports whether it could be resolved.
func (w *walk) step() bool {
	var name string
	name, w.rest, _ = strings.Cut(w.rest, "/")
	switch name {
	case "", ".":
		return true
	case "..":
		w.at = filepath.Dir(w.at)
		return true
	}
	next := filepath.Join(w.at, name)
	if next == "/proc" {
		return false
	}
	target, err := os.Readlink(next)
	switch {
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR): // it is no link
		w.at = next
		return true
	case err != nil: // a link that this user may not read may be readable for the job
		return false
	}
	if w.links++; w.links > mostLinks {
		return false
	}
	if filepath.IsAbs(target) {
		w.at = "/"
	}
	w.rest = target + "/" + w.rest
	return true
}

// inDir returns the path relative to a directory; empty for the directory itself.
func inDir(dir, path string) (rest string, ok bool) {
	path = filepath.Clean(path)
	if path == dir {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// plainRepository reports whether git can use the repository of a directory without
// running other programs: the repository has no hooks, and only settings known to run
// none. It returns false for a bare repository, a work tree of another one, one with
// submodules, and one outside of root.
func plainRepository(root, dir string) bool {
	rest, inside := inDir(root, dir)
	if !inside {
		return false
	}
	top, err := untrusted.Open(root)
	if err != nil {
		return false
	}
	defer top.Close()
	for at := filepath.Join(".", rest); ; at = filepath.Dir(at) {
		found, plain := repositoryIn(top, at)
		if found || at == "." {
			return found && plain
		}
	}
}

// repositoryIn reports whether git may find a repository in a directory, and whether that one
// is plain. A link on the way to the directory counts as a repository: git searches upward from
// where it leads.
func repositoryIn(top untrusted.Dir, at string) (found, plain bool) {
	dir, err := top.Dir(at)
	if err != nil {
		return true, false
	}
	defer dir.Close()
	switch git, err := dir.Dir(".git"); {
	case err == nil:
		defer git.Close()
		return true, hasNoPrograms(git)
	case !errors.Is(err, fs.ErrNotExist):
		return true, false
	}
	return exists(dir, "HEAD"), false // it may be a bare repository, which git accepts
}

func exists(dir untrusted.Dir, name string) bool {
	_, err := dir.Entry(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// hasNoPrograms reports whether the directory of a repository configures no programs.
func hasNoPrograms(git untrusted.Dir) bool {
	for _, name := range []string{"commondir", "config.worktree", "modules"} {
		if exists(git, name) {
			return false
		}
	}
	isShared := func(name string) bool { return strings.HasPrefix(name, "sharedindex.") }
	return !holds(git, isShared) && hasNoHooks(git) && hasPlainConfig(git) && hasNoSubmodules(git)
}

// mostEntries is the most that a plain repository has in a directory that is searched.
const mostEntries = 1000

// holds reports whether a directory holds a name of this kind, or may hold one.
func holds(dir untrusted.Dir, isKind func(name string) bool) bool {
	n := 0
	for name, err := range dir.Names() {
		if n++; err != nil || n > mostEntries || isKind(name) {
			return true
		}
	}
	return false
}

func hasNoHooks(git untrusted.Dir) bool {
	hooks, err := git.Dir("hooks")
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer hooks.Close()
	return !holds(hooks, func(name string) bool { return !strings.HasSuffix(name, ".sample") })
}

var (
	plainSection = lazy.Regexp(`^\s*\[(?:(core|user|gc|init)|(branch|remote) "[^"\\]*")\]\s*$`)
	plainSetting = lazy.Regexp(`^\s*([a-zA-Z]+)\s*=[^\\\x00]*$`)
	noSetting    = lazy.Regexp(`^\s*([#;].*)?$`)
)

// plainSettings are the settings of a repository, by section, that make git run no
// program.
var plainSettings = map[string]string{
	"core":   " repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks quotepath autocrlf eol abbrev ",
	"user":   " name email ",
	"gc":     " auto ",
	"init":   " defaultbranch ",
	"branch": " remote merge rebase description ",
	"remote": " url fetch ",
}

// hasPlainConfig reports whether all settings of a repository are among plainSettings.
func hasPlainConfig(git untrusted.Dir) bool {
	text, err := git.Read("config", 1<<20)
	if err != nil {
		return false
	}
	section := ""
	for line := range strings.SplitSeq(string(text), "\n") {
		if found := plainSection().FindStringSubmatch(line); found != nil {
			section = found[1] + found[2]
			continue
		}
		setting := plainSetting().FindStringSubmatch(line)
		known := setting != nil && strings.Contains(plainSettings[section], " "+strings.ToLower(setting[1])+" ")
		if !known && !noSetting().MatchString(line) {
			return false
		}
	}
	return true
}

// submodule is the mode of a submodule in an index.
var submodule = []byte{0, 0, 0xe0, 0}

// hasNoSubmodules reports whether an index contains none: git examines each one with
// the submodule's own configuration.
func hasNoSubmodules(git untrusted.Dir) bool {
	text, err := git.Read("index", 64<<20)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(text, submodule)
}
