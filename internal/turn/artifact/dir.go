package artifact

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"ringback/internal/sandbox/untrusted"
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
	dir, err := d.open()
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	f, info, err := dir.File(name)
	if err != nil {
		return nil, nil, notThere(err)
	}
	switch {
	case !untrusted.HasOneName(info):
		err = fs.ErrNotExist
	case info.Size() > MaxSize:
		err = ErrTooLarge
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// visible reports whether a path may name one of the job's files.
func (d Dir) visible(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) <= maxPath && utf8.ValidString(name) &&
		!strings.HasPrefix(name, ".") && !strings.Contains(name, "/.") && !strings.ContainsRune(name, 0) &&
		strings.Count(name, "/") < maxDepth && !slices.Contains(d.Hidden, name)
}

func (d Dir) open() (untrusted.Dir, error) {
	base, err := untrusted.Open(d.Base)
	if err != nil {
		return base, notThere(err)
	}
	defer base.Close()
	dir, err := base.Dir(d.Path)
	if err != nil {
		return dir, notThere(err)
	}
	return dir, nil
}

// notThere returns fs.ErrNotExist for anything unreadable or outside the directory. Errors
// of the server itself (out of file descriptors, I/O) are returned as they are.
func notThere(err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EIO) {
		return err
	}
	return fs.ErrNotExist
}
