package process

import (
	"errors"
	"io"
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

// root shows the top-level directories one by one, read-only. A bind of "/" would include the
// mounts below /run, which is hidden anyway, and fail if one of them (network namespaces,
// root file systems of other containers) disappeared at that moment. An empty directory is
// created instead of bound, which is faster.
func (m mounts) root() {
	entries, err := os.ReadDir("/")
	if err != nil {
		return // FindSandbox then reports that nothing runs
	}
	for _, entry := range entries {
		place := "/" + entry.Name()
		if entry.Type().IsRegular() {
			continue // left by installers; each mount would cost a tenth of a millisecond
		}
		if to, err := os.Readlink(place); err == nil {
			m[place] = []string{"--symlink", to, place}
		} else if entry.IsDir() && isEmpty(place) {
			m[place] = []string{"--dir", place}
		} else {
			m[place] = []string{"--ro-bind-try", place, place}
		}
	}
	m["/"] = []string{"--remount-ro", "/"}
}

// isEmpty reports whether a directory is readable and empty.
func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// empty replaces a directory with an empty one. All users may write there, because the user of
// the jobs may not be the one that creates it. In temporary directories, only a file's owner
// may remove it.
func (m mounts) empty(place string) {
	place = resolved(place)
	if info, err := os.Stat(place); err == nil && info.IsDir() && place != "/" {
		mode := "0777"
		if slices.Contains(temporary, place) {
			mode = "1777"
		}
		m[place] = []string{"--perms", mode, "--size", strconv.Itoa(tmpfsSize), "--tmpfs", place}
	}
}

// temporary are directories for temporary files.
var temporary = []string{"/tmp", "/var/tmp", "/dev/shm"}

// bind mounts source at a path, with one of bubblewrap's options.
func (m mounts) bind(option, source, place string) {
	place = resolved(place)
	m[place] = []string{option, resolved(source), place}
}

// args returns the arguments, in an order in which no mount hides another one below it.
func (m mounts) args() (all []string) {
	made := map[string]bool{}
	for _, place := range slices.Sorted(maps.Keys(m)) {
		if place != "/" {
			all = append(all, m.way(filepath.Dir(place), made)...)
			all = append(all, m[place]...)
		}
	}
	return append(all, m["/"]...) // the mount points in it must exist before it becomes read-only
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
func (m mounts) hides(file string) bool {
	for dir := file; ; dir = filepath.Dir(dir) {
		if words, ok := m[dir]; ok {
			return slices.Contains(words, "--tmpfs")
		}
		if dir == "/" {
			return false
		}
	}
}

// holdsHidden reports whether a directory is emptied or contains one that is.
func (m mounts) holdsHidden(dir string) bool {
	for place, words := range m {
		if slices.Contains(words, "--tmpfs") && Within(dir, place) {
			return true
		}
	}
	return false
}

// homeTools are the directories of a home that contain programs and no credentials.
var homeTools = []string{
	".asdf", ".bun/bin", ".cargo/bin", ".deno/bin", ".local/bin", ".local/lib", ".local/share/claude", ".local/share/mise",
	".nvm", ".pyenv", ".rustup", ".sdkman", ".volta", "go/bin", "sdk",
}

// homeCaches are the directories in which package managers and compilers keep downloads
// and builds.
var homeCaches = []string{
	".cache", ".cargo/git", ".cargo/registry", ".gradle", ".ivy2", ".local/share/pnpm", ".m2", ".npm", ".nuget", ".yarn", "go/pkg",
}

// home empties a home directory except for its programs, and adds the caches. A home
// that does not exist, as for service accounts, needs neither.
func (m mounts) home(home, caches string) {
	if info, err := os.Stat(home); err != nil || !info.IsDir() || resolved(home) == "/" {
		return
	}
	m.empty(home)
	for _, tool := range homeTools {
		place := filepath.Join(home, tool)
		if _, err := os.Stat(place); err == nil {
			m.bind("--ro-bind-try", place, place)
		}
	}
	m.caches(home, caches)
}

// cachesPlace is the path of a job's caches in a sandbox.
const cachesPlace = "/run/ringback/caches"

// caches mounts one directory and links to it from the home: a mount for each cache would
// take most of the sandbox's start time. Nothing here follows links that a job puts there.
func (m mounts) caches(home, dir string) {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	m[cachesPlace] = []string{"--bind", resolved(dir), cachesPlace}
	for _, name := range homeCaches {
		kept, place := strings.ReplaceAll(name, "/", "-"), filepath.Join(resolved(home), name)
		_ = root.Mkdir(kept, 0o700) // if it fails, it exists already, or a job has put something else there
		m[place] = []string{"--symlink", filepath.Join(cachesPlace, kept), place}
	}
}
