package process

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mounts maps paths to the bubblewrap arguments that create them. For each file, the
// nearest entry above it applies.
type mounts map[string][]string

// tmpfsSize is the capacity of an empty directory, which is kept in memory, in bytes.
const tmpfsSize = 1 << 30

// empty replaces a directory with an empty one. All users may write there, because the user of
// the jobs may not be the one that creates it. In temporary directories, only a file's owner
// may remove it.
func (m mounts) empty(path string) {
	path = resolved(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() && path != "/" {
		mode := "0777"
		if slices.Contains(forTemporaryFiles, path) {
			mode = "1777"
		}
		m.temporary(path, mode)
	}
}

func (m mounts) temporary(path, mode string) {
	m[path] = []string{"--perms", mode, "--size", strconv.Itoa(tmpfsSize), "--tmpfs", path}
}

// forTemporaryFiles are directories in which every user may create files.
var forTemporaryFiles = []string{"/tmp", "/var/tmp", "/dev/shm"}

// bind mounts source at a path, with one of bubblewrap's options.
func (m mounts) bind(option, source, path string) {
	to := resolved(path)
	from := to
	if source != path {
		from = resolved(source)
	}
	m[to] = []string{option, from, to}
}

// keep mounts a directory of the server, writable, at a path that only the sandbox has: whatever the
// machine has there does not matter.
func (m mounts) keep(path, dir string) { m[path] = []string{"--bind", resolved(dir), path} }

// args returns the arguments, in an order in which no mount hides another one below it.
func (m mounts) args() (all []string) {
	made := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(m)) {
		if path != "/" && !m.isShown(path) {
			all = append(all, m.way(filepath.Dir(path), made)...)
			all = append(all, m[path]...)
		}
	}
	return append(all, m["/"]...) // the mount points in it must exist before it becomes read-only
}

// isShown reports whether a path is already shown, read-only, with a directory above it: bubblewrap takes
// a tenth of a millisecond for each mount. A path that does not exist is left to bubblewrap, which fails.
func (m mounts) isShown(path string) bool {
	if _, err := os.Stat(path); err != nil || !isShownInPlace(m[path]) {
		return false
	}
	return isShownInPlace(m.nearest(filepath.Dir(path)))
}

// isShownInPlace reports whether words show a path of the machine, read-only, at the same path.
func isShownInPlace(words []string) bool {
	return len(words) == 3 && strings.HasPrefix(words[0], "--ro-bind") && words[1] == words[2]
}

// way creates the directories that lead to a path through an empty one. bubblewrap would
// create them for its own user only.
func (m mounts) way(dir string, made map[string]bool) []string {
	if _, ok := m[dir]; ok || made[dir] || !m.hides(dir) {
		return nil
	}
	made[dir] = true
	return append(m.way(filepath.Dir(dir), made), "--perms", "0777", "--dir", dir)
}

// program shows a program if it would be hidden, together with its directory: a script may
// need its package. A link to it remains a link. It returns the program's name in the
// sandbox: a link on the way to its directory may not exist there.
func (m mounts) program(name string) string {
	found, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(found) {
		return name
	}
	found = filepath.Join(resolved(filepath.Dir(found)), filepath.Base(found))
	file := resolved(found)
	if dir := filepath.Dir(file); m.hides(file) {
		if m.holdsHidden(dir) {
			dir = file // the home itself, for example
		}
		m[dir] = []string{"--ro-bind", dir, dir}
	}
	if found != file && m.hides(found) {
		m[found] = []string{"--symlink", file, found}
	}
	if filepath.IsAbs(name) {
		return found
	}
	return name
}

// hides reports whether a path is below an emptied directory.
func (m mounts) hides(file string) bool { return slices.Contains(m.nearest(file), "--tmpfs") }

// nearest returns what is mounted at a path, or nearest above it.
func (m mounts) nearest(path string) []string {
	for ; ; path = filepath.Dir(path) {
		if words, ok := m[path]; ok || path == "/" {
			return words
		}
	}
}

// holdsHidden reports whether a directory is emptied or contains one that is.
func (m mounts) holdsHidden(dir string) bool {
	for path, words := range m {
		if slices.Contains(words, "--tmpfs") && Within(dir, path) {
			return true
		}
	}
	return false
}
