package callback

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// mostLinks is how many symbolic links may lead from one to the next.
const mostLinks = 40

// resolveIn returns what finds where a whole path leads, by the walk that the system
// makes: name by name, with ".." taken from where the names before it have led. Names
// that do not exist yet are taken to become directories.
//
// It cannot tell if the job's own directory is not on this machine, if this user may not
// look at a name, or below /proc, whose links lead each process elsewhere.
//
// Claude may change a link between the question and the run. Against that stands the
// sandbox; here it is seen what a call does as things are.
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

// asIn writes a place in a directory as the directory itself is written, which links may
// lead to.
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

// walk is a path that is partly followed: at is where it has led so far, free of links.
type walk struct {
	at, rest string
	links    int
}

// step follows the next name, and reports whether it can be told where it leads.
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
	case isNoLink(err):
		w.at = next
		return true
	case err != nil: // one that we may not look at may be the job's to see when the call runs
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

// isNoLink reports whether reading a link failed because there is none.
func isNoLink(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR)
}

// inDir is where in a directory a path lies; empty for the directory itself.
func inDir(dir, path string) (rest string, ok bool) {
	path = filepath.Clean(path)
	if path == dir {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
