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

// mounts are bubblewrap's arguments that make a place, by the place. For each file, the
// nearest place above it counts.
type mounts map[string][]string

// tmpfsSize is how many bytes fit into an empty directory, which is kept in memory.
const tmpfsSize = 1 << 30

// root shows the directories at the top, part by part, read-only. A bind of all at once would
// take what is mounted below /run along, which is hidden anyway, and fail where some of it
// (the namespaces of networks, the rooms of other containers) went away at that moment.
// An empty directory is made anew, which takes less time than a bind.
func (m mounts) root() {
	entries, err := os.ReadDir("/")
	if err != nil {
		return // FindSandbox says that nothing runs then
	}
	for _, entry := range entries {
		place := "/" + entry.Name()
		if entry.Type().IsRegular() {
			continue // left by installers, and a mount for each would cost a tenth of a millisecond
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

// isEmpty reports whether a directory can be read and holds nothing.
func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// empty puts an empty directory in place of one. All may write there, for the user of the jobs
// may be another one than who makes it; what only its owner may remove is in temporary ones.
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

// bind puts something there, by one of bubblewrap's options.
func (m mounts) bind(option, source, place string) {
	place = resolved(place)
	m[place] = []string{option, resolved(source), place}
}

// args are the arguments, in an order in which no place hides one within it.
func (m mounts) args() (all []string) {
	made := map[string]bool{}
	for _, place := range slices.Sorted(maps.Keys(m)) {
		if place != "/" {
			all = append(all, m.way(filepath.Dir(place), made)...)
			all = append(all, m[place]...)
		}
	}
	return append(all, m["/"]...) // what is to be in it has to be there before
}

// way makes the directories that lead to a place through an empty one. bubblewrap would make
// them for whom it runs as alone.
func (m mounts) way(dir string, made map[string]bool) []string {
	if _, ok := m[dir]; ok || made[dir] || !m.hides(dir) {
		return nil
	}
	made[dir] = true
	return append(m.way(filepath.Dir(dir), made), "--perms", "0777", "--dir", dir)
}

// program shows a program where it would be hidden, with what lies beside it: a script
// may need its package. A link to it stays one. It returns the name by which the program is
// found in the sandbox: a link on the way to its directory may not be there.
func (m mounts) program(name string) string {
	found, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(found) {
		return name
	}
	found = filepath.Join(resolved(filepath.Dir(found)), filepath.Base(found))
	file := resolved(found)
	if dir := filepath.Dir(file); m.hides(file) {
		if m.holdsHidden(dir) {
			dir = file // the home itself, or the like
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

// hides reports whether something lies within an empty directory.
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

// holdsHidden reports whether a directory is, or holds, one that is emptied.
func (m mounts) holdsHidden(dir string) bool {
	for place, words := range m {
		if slices.Contains(words, "--tmpfs") && (place == dir || strings.HasPrefix(place, strings.TrimSuffix(dir, "/")+"/")) {
			return true
		}
	}
	return false
}

// homeTools are what a home holds of programs, without credentials.
var homeTools = []string{
	".asdf", ".bun/bin", ".cargo/bin", ".deno/bin", ".local/bin", ".local/lib", ".local/share/claude", ".local/share/mise",
	".nvm", ".pyenv", ".rustup", ".sdkman", ".volta", "go/bin", "sdk",
}

// homeCaches are where package managers and compilers keep what they have fetched and
// built.
var homeCaches = []string{
	".cache", ".cargo/git", ".cargo/registry", ".gradle", ".ivy2", ".local/share/pnpm", ".m2", ".npm", ".nuget", ".yarn", "go/pkg",
}

// home leaves programs of a home directory, and puts caches into it. One that is not
// there, as accounts of services have it, holds nothing and takes nothing.
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

// cachesPlace is where the caches of a job are seen in a sandbox.
const cachesPlace = "/run/ringback/caches"

// caches shows one directory, to which links in the home lead: a mount for each cache would
// take most of the time that a sandbox takes to start. Nothing here follows what a job
// makes of them.
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
		_ = root.Mkdir(kept, 0o700) // else it is there, or a job has put something else there
		m[place] = []string{"--symlink", filepath.Join(cachesPlace, kept), place}
	}
}
