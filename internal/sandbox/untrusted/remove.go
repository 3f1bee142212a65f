package untrusted

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Remove removes a file or directory with all that it contains, however deep and whatever the
// permissions of its directories, like os.RemoveAll. The directories above it are trusted.
func Remove(file string) error { return workingDir.Remove(filepath.Clean(file)) }

// Remove removes an entry of the directory with all that it contains.
func (d Dir) Remove(name string) error {
	err := d.unlink(name)
	if !errors.Is(err, errIsDir) {
		return err
	}
	top, err := d.toEmpty(name)
	if err != nil {
		return IgnoreGone(err) // another server may remove it at the same time
	}
	defer top.Close()
	r := remover{top: top, prefix: "removed-" + rand.Text() + "-"}
	if err := r.empty(); err != nil {
		return err
	}
	return d.rmdir(name)
}

// remover empties a directory. It moves each directory that lies deeper up into it before it
// removes what that one contains: so two open directories suffice for any depth, and each
// path has one name, even if a job moves directories at the same time.
type remover struct {
	top Dir
	// prefix begins the names of directories that were moved up, which no job knows.
	prefix string
	moved  int
	// done counts what was removed or moved. failed is the first error of a pass.
	done   int
	failed error
}

// empty repeats until nothing is left, or nothing more can be removed.
func (r *remover) empty() error {
	for before := -1; before != r.done; {
		before, r.failed = r.done, nil
		isEmpty := true
		for name, err := range r.top.Names() {
			if err != nil {
				return err
			}
			isEmpty = false
			r.note(r.dissolve(name))
		}
		if isEmpty {
			return nil
		}
	}
	return r.failed
}

func (r *remover) note(err error) {
	switch {
	case err == nil:
		r.done++
	case r.failed == nil:
		r.failed = err
	}
}

// dissolve removes an entry of the top directory. What its directories contain is left there.
func (r *remover) dissolve(name string) error {
	err := r.top.unlink(name)
	if !errors.Is(err, errIsDir) {
		return err
	}
	dir, err := r.top.toEmpty(name)
	if err != nil {
		return IgnoreGone(err)
	}
	defer dir.Close()
	for inner, err := range dir.Names() {
		if err != nil {
			return err
		}
		if err = dir.unlink(inner); errors.Is(err, errIsDir) {
			err = r.moveUp(dir, inner)
		}
		r.note(err)
	}
	return r.top.rmdir(name)
}

func (r *remover) moveUp(from Dir, name string) error {
	r.moved++
	to := r.prefix + strconv.Itoa(r.moved)
	move := func() error {
		return from.fault("rename", name, unix.Renameat(from.fd, name, r.top.fd, to))
	}
	err := move()
	if errors.Is(err, fs.ErrPermission) { // the directory itself must be writable
		if dir, openErr := from.toEmpty(name); openErr == nil {
			dir.Close()
			err = move()
		}
	}
	return IgnoreGone(err)
}

// errIsDir is returned for a directory in place of a file.
var errIsDir = errors.New("it is a directory")

// unlink removes anything but a directory.
func (d Dir) unlink(name string) error {
	err := retry(func() error { return unix.Unlinkat(d.fd, name, 0) })
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if e, statErr := d.Entry(name); statErr == nil && e.IsDir() {
		return errIsDir
	}
	return d.fault("unlink", name, err)
}

func (d Dir) rmdir(name string) error {
	err := retry(func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
	return IgnoreGone(d.fault("rmdir", name, err))
}

// toEmpty opens a directory with entries to be removed, and makes that possible for its
// owner.
func (d Dir) toEmpty(name string) (Dir, error) {
	dir, err := d.child(name)
	if errors.Is(err, fs.ErrPermission) && makeAccessible(d, name) == nil {
		dir, err = d.child(name)
	}
	if err != nil {
		return Dir{}, err
	}
	if info, err := dir.file.Stat(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
		_ = dir.file.Chmod(0o700) // if it fails, removing what it contains fails, too
	}
	return dir, nil
}

// IgnoreGone returns nil for the error of a file that does not exist: a job may remove its files at any time.
func IgnoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
