package untrusted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MaxDepth limits the levels of directories that Walk enters, each of which takes a
// descriptor. No project has as many.
const MaxDepth = 100

// ErrTooDeep is returned for a directory below MaxDepth others.
var ErrTooDeep = fmt.Errorf("it is more than %d directories deep", MaxDepth)

// TooManyError is returned if a directory contains more than Most entries.
type TooManyError struct{ Most int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("it holds more than %d files and directories", e.Most)
}

// Entry is an entry of a directory.
type Entry struct {
	// Dir is the directory that contains it, open only while the entry is visited.
	Dir  Dir
	Name string
	// Path is its slash-separated path in the directory that is walked.
	Path string
	Stat unix.Stat_t
}

// IsDir reports whether the entry is a directory.
func (e Entry) IsDir() bool { return e.Stat.Mode&unix.S_IFMT == unix.S_IFDIR }

// IsRegular reports whether the entry is a regular file.
func (e Entry) IsRegular() bool { return e.Stat.Mode&unix.S_IFMT == unix.S_IFREG }

// IsLink reports whether the entry is a symbolic link.
func (e Entry) IsLink() bool { return e.Stat.Mode&unix.S_IFMT == unix.S_IFLNK }

// HasOneName is HasOneName for an entry; it is true for a directory.
func (e Entry) HasOneName() bool { return e.IsDir() || e.Stat.Nlink == 1 }

// Lchown changes the owner and group of the entry itself.
func (e Entry) Lchown(id int) error {
	err := retry(func() error { return unix.Fchownat(e.Dir.fd, e.Name, id, id, unix.AT_SYMLINK_NOFOLLOW) })
	return e.Dir.fault("lchown", e.Name, err)
}

// Target returns the target of a symbolic link.
func (e Entry) Target() (string, error) {
	text := make([]byte, unix.PathMax)
	var n int
	err := retry(func() (err error) { n, err = unix.Readlinkat(e.Dir.fd, e.Name, text); return err })
	if err != nil {
		return "", e.Dir.fault("readlink", e.Name, err)
	}
	return string(text[:n]), nil
}

// Walk is Dir.Walk for a directory or file by its path, which is visited as "." first. The
// directories above it are trusted.
func Walk(ctx context.Context, place string, most int, visit func(Entry, error) error) error {
	parent, err := OpenOwn(filepath.Dir(place))
	if err != nil {
		return err
	}
	defer parent.Close()
	self, err := parent.Entry(filepath.Base(place))
	if err != nil {
		return err
	}
	self.Path = "."
	w := walk{most: most, left: most, visit: visit}
	return w.whole(place, w.entry(ctx, self, nil, -1))
}

// Walk calls visit with each entry below the directory, a directory before what it contains, in
// no order otherwise. If a directory cannot be entered or read, visit is called for it again
// with the error: ErrTooDeep, for example. Walk ends with the first error that visit returns,
// except fs.SkipDir for a directory; with a TooManyError after most entries; and with the
// cause of ctx.
func (d Dir) Walk(ctx context.Context, most int, visit func(Entry, error) error) error {
	w := walk{most: most, left: most, visit: visit}
	return w.whole(d.pathOf("."), w.dir(ctx, d, Entry{Dir: d, Name: ".", Path: "."}, 0))
}

type walk struct {
	most, left int
	visit      func(Entry, error) error
}

// whole adds what was walked to the error about its size.
func (w *walk) whole(place string, err error) error {
	if _, many := errors.AsType[*TooManyError](err); many {
		return &fs.PathError{Op: "read", Path: place, Err: err}
	}
	return err
}

// dir visits what a directory contains. self is its entry.
func (w *walk) dir(ctx context.Context, dir Dir, self Entry, depth int) error {
	for name, err := range dir.Names() {
		if err != nil {
			return w.visit(self, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if w.left--; w.left < 0 {
			return &TooManyError{w.most}
		}
		e, err := dir.Entry(name)
		e.Path = path.Join(self.Path, name)
		if err := w.entry(ctx, e, err, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(ctx context.Context, e Entry, err error, depth int) error {
	err = w.visit(e, err)
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	if err != nil || !e.IsDir() {
		return err
	}
	if depth == MaxDepth {
		return w.visit(e, e.Dir.fault("enter", e.Name, ErrTooDeep))
	}
	child, err := e.Dir.child(e.Name)
	if err != nil {
		return w.visit(e, err)
	}
	defer child.Close()
	return w.dir(ctx, child, e, depth+1)
}
