package callback

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
