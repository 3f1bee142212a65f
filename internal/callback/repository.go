package callback

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ringback/internal/lazy"
)

// plainRepository reports whether git can use the repository of a directory without
// running other programs: the repository has no hooks, and only settings known to run
// none. It returns false for a bare repository, a work tree of another one, one with
// submodules, and one outside of root.
func plainRepository(root, dir string) bool {
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != filepath.Clean(dir) {
		return false // git searches upward from the resolved path
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, inside := inDir(root, at); !inside {
			return false
		}
		git := filepath.Join(at, ".git")
		switch info, err := os.Lstat(git); {
		case err == nil:
			return info.IsDir() && hasNoPrograms(git)
		case !errors.Is(err, fs.ErrNotExist), exists(filepath.Join(at, "HEAD")):
			return false // it may be a bare repository, which git accepts
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// hasNoPrograms reports whether the directory of a repository configures no programs.
func hasNoPrograms(git string) bool {
	for _, name := range []string{"commondir", "config.worktree", "modules"} {
		if exists(filepath.Join(git, name)) {
			return false
		}
	}
	hooks, err := os.ReadDir(filepath.Join(git, "hooks"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, hook := range hooks {
		if !strings.HasSuffix(hook.Name(), ".sample") {
			return false
		}
	}
	shared, err := filepath.Glob(filepath.Join(git, "sharedindex.*"))
	return err == nil && len(shared) == 0 && hasPlainConfig(filepath.Join(git, "config")) &&
		hasNoSubmodules(filepath.Join(git, "index"))
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
func hasPlainConfig(file string) bool {
	text, ok := readRegular(file, 1<<20)
	if !ok {
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
func hasNoSubmodules(index string) bool {
	if !exists(index) {
		return true
	}
	text, ok := readRegular(index, 64<<20)
	return ok && !bytes.Contains(text, submodule)
}

// readRegular reads a regular file if it is not too large.
func readRegular(path string, most int64) ([]byte, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, false
	}
	text, err := os.ReadFile(path)
	return text, err == nil
}
