package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// Prune removes everything from the directory except the files that List returns, keeping
// them in order of path up to MaxKept bytes in total. It returns the number of files kept
// and reports whether any file was dropped because of a limit.
func (d Dir) Prune() (kept int, dropped bool, err error) {
	files, dropped, err := d.List()
	if err != nil {
		return 0, false, err
	}
	keep := map[string]bool{}
	room := int64(MaxKept)
	for _, f := range files {
		if f.Size > room {
			dropped = true
			continue
		}
		room -= f.Size
		keep[f.Path] = true
	}
	root, err := d.root(".")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer root.Close()
	d.prune(root, "", keep)
	return len(keep), dropped, nil
}

// prune removes what it can. A directory that still contains something is left.
func (d Dir) prune(dir *os.Root, prefix string, keep map[string]bool) {
	for entry := range entries(dir) {
		name := path.Join(prefix, entry)
		if keep[name] {
			continue
		}
		if child, err := enter(dir, entry); err == nil && d.visible(name) {
			d.prune(child, name, keep)
			child.Close()
			_ = dir.Remove(entry) // fails if it contains something to keep
			continue
		} else if err == nil {
			child.Close()
		}
		_ = dir.RemoveAll(entry) // if it cannot be removed, it is not visible either
	}
}
