package artifact

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"ringback/internal/sandbox/untrusted"
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
	dir, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	// What cannot be read is not visible.
	err = dir.Walk(context.Background(), maxSeen, func(e untrusted.Entry, err error) error {
		switch {
		case err != nil || !d.visible(e.Path):
			return skip(e)
		case e.IsRegular() && e.HasOneName():
			files = append(files, File{e.Path, e.Stat.Size, time.Unix(e.Stat.Mtim.Unix()).UTC()})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	if len(files) > MaxFiles {
		return files[:MaxFiles], true, nil
	}
	_, more = errors.AsType[*untrusted.TooManyError](err)
	return files, more, nil
}

// skip does not enter a directory.
func skip(e untrusted.Entry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}
