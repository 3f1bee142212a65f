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

// resolveIn returns what follows the symbolic links of paths in a directory: up to
// where they leave it, for nothing outside is looked at. It cannot tell where the
// directory is not on this machine, or this user may not look into one below it.
//
// Claude may change a link between the question and the run. Against that stands the
// sandbox; here it is seen what a call does as things are.
func resolveIn(root string) func(path string) (string, bool) {
	root = filepath.Clean(root)
	return func(path string) (string, bool) {
		rest, inside := inDir(root, path)
		if !inside {
			return path, true
		}
		if _, err := os.Lstat(root); err != nil {
			return "", false
		}
		at := root
		for links := 0; rest != ""; {
			name, after, _ := strings.Cut(rest, "/")
			at, rest = filepath.Join(at, name), after
			target, err := os.Readlink(at)
			if isNoLink(err) {
				continue
			}
			if err != nil { // one that we may not look at may be ours to see when the call runs
				return "", false
			}
			if links++; links > mostLinks {
				return "", false
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			target = filepath.Join(target, rest)
			if rest, inside = inDir(root, target); !inside {
				return target, true
			}
			at = root
		}
		return at, true
	}
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
