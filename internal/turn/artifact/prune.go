package artifact

import (
	"errors"
	"io/fs"
	"path"

	"ringback/internal/sandbox/untrusted"
)

// Prune removes everything from the directory except the files that List returns, keeping
// them in order of path up to MaxKept bytes in total. It returns the number of files kept
// and reports whether any file was dropped because of a limit.
func (d Dir) Prune() (kept int, dropped bool, err error) {
	files, dropped, err := d.List()
	if err != nil {
		return 0, false, err
	}
	keep, holding := map[string]bool{}, map[string]bool{}
	room := int64(MaxKept)
	for _, f := range files {
		if f.Size > room {
			dropped = true
			continue
		}
		room -= f.Size
		keep[f.Path] = true
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			holding[dir] = true
		}
	}
	dir, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer dir.Close()
	prune(dir, "", keep, holding)
	return len(keep), dropped, nil
}

// prune removes what is neither to keep nor a directory holding such files. What cannot be
// removed is not visible either.
func prune(dir untrusted.Dir, prefix string, keep, holding map[string]bool) {
	for entry, err := range dir.Names() {
		name := path.Join(prefix, entry)
		switch {
		case err != nil: // what cannot be listed is kept
		case keep[name]:
		case !holding[name]:
			_ = dir.Remove(entry)
		default:
			if child, err := dir.Dir(entry); err == nil {
				prune(child, name, keep, holding)
				child.Close()
			}
		}
	}
}
