package artifact

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
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
			if e.IsDir() {
				return fs.SkipDir
			}
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
