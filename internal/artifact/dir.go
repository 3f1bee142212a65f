package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Limits on what is listed, served and kept.
const (
	MaxFiles = 1000      // files listed, and kept after the job has ended
	MaxSize  = 1 << 30   // bytes of a file that can be served
	MaxKept  = 256 << 20 // bytes of all files kept after the job has ended
	maxDepth = 16        // levels of nesting
	maxSeen  = 20000     // directory entries examined
	maxPath  = 1024      // bytes of a path
)

// ErrTooLarge is returned when a file is larger than MaxSize.
var ErrTooLarge = errors.New("the file is too large to be served")

// Dir is the working directory of a job.
type Dir struct {
	// Base is a directory that only the server can write to. Path is the path of the
	// working directory relative to Base.
	Base, Path string
	// Hidden lists names in the top level of the directory that are not part of the job's
	// work.
	Hidden []string
}

// Open opens a file by its slash-separated path in the directory. It returns fs.ErrNotExist
// for anything that is not visible and ErrTooLarge for a file larger than MaxSize.
func (d Dir) Open(name string) (*os.File, fs.FileInfo, error) {
	if !d.visible(name) {
		return nil, nil, fs.ErrNotExist
	}
	parent, err := d.root(path.Dir(name))
	if err != nil {
		return nil, nil, err
	}
	defer parent.Close()
	return openFile(parent, path.Base(name))
}

// visible reports whether a path may name one of the job's files.
func (d Dir) visible(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) <= maxPath && utf8.ValidString(name) &&
		!strings.HasPrefix(name, ".") && !strings.Contains(name, "/.") && !strings.ContainsRune(name, 0) &&
		strings.Count(name, "/") < maxDepth && !slices.Contains(d.Hidden, name)
}

// root opens a directory by its path in the working directory.
func (d Dir) root(below string) (*os.Root, error) {
	parent, err := os.OpenRoot(d.Base)
	if err != nil {
		return nil, notThere(err)
	}
	for part := range strings.SplitSeq(path.Join(d.Path, below), "/") {
		next, err := enter(parent, part)
		parent.Close()
		if err != nil {
			return nil, err
		}
		parent = next
	}
	return parent, nil
}

// enter opens a direct subdirectory of parent. os.Root follows links that stay within it,
// so enter compares the opened directory with the one that Lstat saw.
func enter(parent *os.Root, name string) (*os.Root, error) {
	before, err := parent.Lstat(name)
	if err != nil {
		return nil, notThere(err)
	}
	if !before.IsDir() {
		return nil, fs.ErrNotExist
	}
	child, err := parent.OpenRoot(name)
	if err != nil {
		return nil, notThere(err)
	}
	after, err := child.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		child.Close()
		return nil, fs.ErrNotExist
	}
	return child, nil
}

// openFile opens a regular file directly in parent. It does not block if the file was
// replaced by a named pipe after the check.
func openFile(parent *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := parent.Lstat(name)
	if err != nil {
		return nil, nil, notThere(err)
	}
	if !ordinary(before) {
		return nil, nil, fs.ErrNotExist
	}
	f, err := parent.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, notThere(err)
	}
	info, err := f.Stat()
	if err == nil && (!os.SameFile(before, info) || !ordinary(info)) {
		err = fs.ErrNotExist
	}
	if err == nil && info.Size() > MaxSize {
		err = ErrTooLarge
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ordinary reports whether info describes a regular file with a single hard link. A second
// link may be a file elsewhere.
func ordinary(info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Nlink == 1
}

// notThere returns fs.ErrNotExist for anything unreadable or outside the directory. Errors
// of the server itself (out of file descriptors, I/O) are returned as they are.
func notThere(err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EIO) {
		return err
	}
	return fs.ErrNotExist
}
