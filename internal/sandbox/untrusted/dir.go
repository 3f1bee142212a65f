package untrusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrIrregular is returned for a link, a named pipe, a device and the like in place of a file.
var ErrIrregular = errors.New("it is not a regular file")

// TooLargeError is returned for a file with more than Most bytes.
type TooLargeError struct{ Most int64 }

func (e *TooLargeError) Error() string { return fmt.Sprintf("it has more than %d bytes", e.Most) }

// IsJobs reports whether an error is due to what a job has left at a path: nothing, no file or directory, or one that
// cannot be opened. After any other error, there may be a file: a disk fails, or descriptors are lacking.
func IsJobs(err error) bool {
	for _, reason := range []error{fs.ErrNotExist, fs.ErrPermission, ErrIrregular, unix.ENOTDIR, unix.ELOOP} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// Exists reports whether there is a file or directory of the server's. The error means that this is not known.
func Exists(place string) (bool, error) {
	_, err := os.Stat(place)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Dir is an open directory. Close closes it.
type Dir struct {
	file *os.File
	fd   int // of file; its Fd would make a system call
}

// workingDir is the directory that relative paths begin at.
var workingDir = Dir{fd: unix.AT_FDCWD}

// Open opens a directory. The directories above it are trusted; the directory itself may not
// be a link.
func Open(dir string) (Dir, error) { return workingDir.child(dir) }

// Close closes the directory.
func (d Dir) Close() { _ = d.file.Close() }

// Dir opens a directory by its slash-separated path in this one.
func (d Dir) Dir(name string) (Dir, error) {
	parent, base, err := d.parent(name)
	if err != nil {
		return Dir{}, err
	}
	defer parent.Close()
	return parent.child(base)
}

// File opens a regular file for reading, by its slash-separated path in the directory.
func (d Dir) File(name string) (*os.File, fs.FileInfo, error) {
	parent, base, err := d.parent(name)
	if err != nil {
		return nil, nil, err
	}
	defer parent.Close()
	return parent.regular(base, unix.O_RDONLY)
}

// Read returns a file's content, which may have at most so many bytes.
func (d Dir) Read(name string, most int64) ([]byte, error) {
	f, _, err := d.File(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: &TooLargeError{most}}
	}
	return text, err
}

// Replace writes a file that takes the place of another one at once.
func (d Dir) Replace(name string, text []byte) error {
	part := name + ".part"
	if err := errors.Join(d.Remove(part), d.create(part, text)); err != nil {
		return err
	}
	return d.fault("rename", name, retry(func() error { return unix.Renameat(d.fd, part, d.fd, name) }))
}

func (d Dir) create(name string, text []byte) error {
	f, _, err := d.regular(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// MakeDir opens a directory that is directly in this one, and creates it if there is none.
func (d Dir) MakeDir(name string) (Dir, error) {
	err := retry(func() error { return unix.Mkdirat(d.fd, name, 0o700) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return Dir{}, d.fault("mkdir", name, err)
	}
	return d.child(name)
}

// Entry returns the entry of the directory with this name.
func (d Dir) Entry(name string) (Entry, error) {
	e := Entry{Dir: d, Name: name, Path: name}
	err := retry(func() error { return unix.Fstatat(d.fd, name, &e.Stat, unix.AT_SYMLINK_NOFOLLOW) })
	return e, d.fault("stat", name, err)
}

// Names yields the names in the directory, in no order. It stops at the first error.
func (d Dir) Names() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		again, err := d.child(".") // with a separate offset
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield("", err)
			return
		}
		defer again.Close()
		for {
			names, err := again.file.Readdirnames(256)
			for _, name := range names {
				if !yield(name, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) { // or the directory was removed
				return
			}
			if err != nil {
				yield("", err)
				return
			}
		}
	}
}

// OpenFile opens a regular file by its path. All directories above it are trusted.
func OpenFile(file string) (*os.File, error) {
	f, _, err := workingDir.regular(file, unix.O_RDONLY)
	return f, err
}

// AppendTo opens a file to append to it, like OpenFile, and creates it if there is none.
func AppendTo(file string) (*os.File, error) {
	f, _, err := workingDir.regular(file, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT)
	return f, err
}

// Cut frees what a file has beyond its first bytes, if it exists. It opens it like OpenFile.
func Cut(file string, most int64) error {
	f, info, err := workingDir.regular(file, unix.O_WRONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Size() > most {
		err = f.Truncate(most)
	}
	return errors.Join(err, f.Close())
}

// ReadFile returns the content of a file like Read. All directories above it are trusted.
func ReadFile(file string, most int64) ([]byte, error) {
	dir, err := OpenOwn(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Read(filepath.Base(file), most)
}

// WriteFile writes a file like Replace. All directories above it are trusted.
func WriteFile(file string, text []byte) error {
	dir, err := OpenOwn(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Replace(filepath.Base(file), text)
}

// HasOneName reports whether a file has no other hard link, which may be a file elsewhere.
func HasOneName(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1
}

// OpenOwn opens a directory of the server's or its user's, which may be a link.
func OpenOwn(dir string) (Dir, error) {
	f, err := os.Open(dir)
	return dirOf(f), err
}

func dirOf(f *os.File) Dir {
	if f == nil {
		return Dir{}
	}
	return Dir{f, int(f.Fd())}
}

// parent opens the directory that contains the last name of a path.
func (d Dir) parent(name string) (parent Dir, base string, err error) {
	if !fs.ValidPath(name) || strings.ContainsRune(name, 0) {
		return Dir{}, "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	parent, err = d.child(".")
	dir, base := path.Split(name)
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if err != nil || part == "" {
			break
		}
		var next Dir
		next, err = parent.child(part)
		parent.Close()
		parent = next
	}
	return parent, base, err
}

// child opens a directory that is directly in this one.
func (d Dir) child(name string) (Dir, error) {
	f, err := d.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	return dirOf(f), err
}

// regular opens a regular file that is directly in the directory.
func (d Dir) regular(name string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := d.open(name, flags)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EISDIR) {
		return nil, nil, &fs.PathError{Op: "open", Path: d.pathOf(name), Err: ErrIrregular}
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: ErrIrregular}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// open opens what is directly in the directory. It follows no link and waits for no other process.
func (d Dir) open(name string, flags int) (*os.File, error) {
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return nil, d.fault("open", name, err)
	}
	return os.NewFile(uintptr(fd), d.pathOf(name)), nil
}

func (d Dir) pathOf(name string) string {
	if d.file == nil {
		return name
	}
	return filepath.Join(d.file.Name(), name)
}

func (d Dir) fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: d.pathOf(name), Err: err}
}

// retry repeats a system call that a signal has interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
