package outbound

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Directories returns what git reads for the repository at a path: the path, and the directories and files
// elsewhere in which a linked worktree, a submodule or a shared clone has its refs and objects. Symbolic
// links are followed.
func Directories(path string) []string {
	path = resolved(path)
	all := []string{path}
	add := func(path string) {
		if path = resolved(path); !slices.ContainsFunc(all, func(dir string) bool { return inside(path, dir) }) {
			all = append(all, path)
		}
	}
	gitDir, common, found := gitDirectory(path)
	if !found {
		return all
	}
	add(gitDir)
	add(common)
	for _, name := range []string{"refs", "packed-refs", "config"} {
		add(filepath.Join(common, name))
	}
	stores := []string{resolved(filepath.Join(common, "objects"))}
	for i := 0; i < len(stores); i++ {
		add(stores[i])
		for line := range strings.Lines(shortText(filepath.Join(stores[i], "info", "alternates"))) {
			line = strings.TrimRight(line, "\r\n")
			if quoted, err := strconv.Unquote(line); err == nil {
				line = quoted
			}
			store := resolved(from(stores[i], line))
			if line != "" && line[0] != '#' && !slices.Contains(stores, store) {
				stores = append(stores, store)
			}
		}
	}
	return all
}

// gitDirectory returns the directory that git opens for a path, and the one with the refs and objects, which
// linked worktrees share. found is false if git would not find a repository.
func gitDirectory(path string) (own, common string, found bool) {
	for _, ending := range []string{"/.git", "", ".git/.git", ".git"} { // in the order in which git looks
		own = path + ending
		if to, isLink := strings.CutPrefix(shortText(own), "gitdir: "); isLink {
			own = from(filepath.Dir(own), to)
		}
		own = resolved(own)
		common = own
		if to := shortText(filepath.Join(own, "commondir")); to != "" {
			common = resolved(from(own, to))
		}
		if exists(own, "HEAD") && exists(common, "objects") && exists(common, "refs") {
			return own, common, true
		}
	}
	return "", "", false
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

func isBundle(name string) bool { return strings.HasPrefix(shortText(name), "# v") }

// from returns a path that is relative to a directory unless it is absolute.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// shortText returns the text of a regular file, without its last newlines, and "" for anything else. It
// waits for no one, and reads at most 64 KiB.
func shortText(name string) string {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\r\n")
}
