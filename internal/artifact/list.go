package artifact

import (
	"cmp"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"time"
)

// File is a file that a job produced.
type File struct {
	// Path is relative to the working directory, with forward slashes.
	Path string
	// Size is in bytes.
	Size    int64
	ModTime time.Time
}

// List returns the files of the directory, sorted by path. more reports whether there are
// further files, or entries that were not examined.
func (d Dir) List() (files []File, more bool, err error) {
	root, err := d.root(".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	l := &lister{dir: d}
	l.walk(root, "")
	slices.SortFunc(l.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	if len(l.files) > MaxFiles {
		return l.files[:MaxFiles], true, nil
	}
	return l.files, l.more, nil
}

type lister struct {
	dir   Dir
	files []File
	seen  int
	more  bool
}

// walk collects the files below dir, whose path is prefix.
func (l *lister) walk(dir *os.Root, prefix string) {
	for entry := range entries(dir) {
		if l.seen++; l.seen > maxSeen {
			l.more = true
			return
		}
		name := path.Join(prefix, entry)
		info, err := dir.Lstat(entry)
		if err != nil || !l.dir.visible(name) {
			continue
		}
		if ordinary(info) {
			l.files = append(l.files, File{name, info.Size(), info.ModTime().UTC()})
		}
		if !info.IsDir() {
			continue
		}
		if child, err := enter(dir, entry); err == nil {
			l.walk(child, name)
			child.Close()
		}
	}
}

// entries yields the names in a directory and stops at the first read error.
func entries(dir *os.Root) iter.Seq[string] {
	return func(yield func(string) bool) {
		f, err := dir.Open(".")
		if err != nil {
			return
		}
		defer f.Close()
		for err == nil {
			var names []string
			names, err = f.Readdirnames(256)
			for _, name := range names {
				if !yield(name) {
					return
				}
			}
		}
	}
}
