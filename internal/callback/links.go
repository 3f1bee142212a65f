package callback

import (
	"os"
	"path/filepath"
	"strings"
)

// mostLinks is how many symbolic links may lead from one to the next.
const mostLinks = 40

// resolveIn returns what follows the symbolic links of paths in a directory: up to
// where they leave it, for nothing outside is looked at. It cannot tell where the
// directory is not on this machine.
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
			if err != nil { // it is no link, or not there
				continue
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

// inDir is where in a directory a path lies; empty for the directory itself.
func inDir(dir, path string) (rest string, ok bool) {
	path = filepath.Clean(path)
	if path == dir {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
