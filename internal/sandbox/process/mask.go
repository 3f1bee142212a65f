package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ringback/internal/sandbox/untrusted"
)

// Masks are files and directories that programs in a sandbox may not access, although
// the sandbox shows the directories that contain them.
type Masks struct {
	// Unreadable paths are covered by an empty file or directory that cannot be opened.
	// Unwritable paths can be read, but not written, moved or removed.
	Unreadable, Unwritable []string
	// Covers is a directory that CoversIn has prepared.
	Covers string
}

// Forbidden reports which files are to be masked; Unwritable may be nil.
type Forbidden struct{ Unreadable, Unwritable func(path string) bool }

// The most files that are searched and masked. Searching a hundred thousand files takes about
// 0.2 s. Ten masks add 5 ms to each start, and a hundred add 0.1 s: bubblewrap takes longer
// for each further one.
const (
	maxSearched = 500_000
	maxMasks    = 250
)

// FindMasks searches a job's own directory, and others, for forbidden files, by their names
// there and by other names of the same files. Files that a job creates later are its own.
// If the search fails, or ctx ends, nothing may run.
func FindMasks(ctx context.Context, dir string, others []string, forbidden Forbidden) (Masks, error) {
	s := maskSearch{forbidden: forbidden, dir: dir, dirs: []string{dir}, inodes: map[inode]bool{}}
	if err := s.walk(ctx, dir, dir); err != nil {
		return Masks{}, err
	}
	for _, named := range others {
		other, err := filepath.EvalSymlinks(named)
		if err != nil || isOfSystem(other) || other == named && Within(dir, other) {
			continue
		}
		s.dirs = append(s.dirs, other)
		if err := s.walk(ctx, other, named); err != nil {
			return Masks{}, err
		}
	}
	if len(s.inodes) > 0 {
		if err := s.otherNames(ctx); err != nil {
			return Masks{}, err
		}
	}
	return s.found, nil
}

// ofSystem are directories that every program needs: only parts of them are searched.
var ofSystem = []string{
	"/", "/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/run", "/sbin", "/tmp", "/usr", "/usr/bin", "/usr/lib",
	"/usr/sbin", "/var",
}

func isOfSystem(dir string) bool {
	return slices.Contains(ofSystem, dir) || Within("/proc", dir) || Within("/sys", dir) || Within("/dev", dir)
}

// Within reports whether a path is a directory or below it.
func Within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// maskSearch is a search for files to mask.
type maskSearch struct {
	forbidden Forbidden
	// dir is the job's own directory; dirs are all searched directories.
	dir      string
	dirs     []string
	found    Masks
	searched int
	// inodes are the unreadable files that have more than one name.
	inodes map[inode]bool
}

// inode identifies a file. The types of the numbers differ by system.
type inode struct{ device, number any }

func inodeOf(e untrusted.Entry) inode { return inode{e.Stat.Dev, e.Stat.Ino} }

// walk searches a directory. named is its name in the rules, which may be a link to it.
func (s *maskSearch) walk(ctx context.Context, dir, named string) error {
	err := untrusted.Walk(ctx, dir, maxSearched-s.searched, func(e untrusted.Entry, err error) error {
		path := filepath.Join(dir, e.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist), err != nil && !Within(s.dir, path): // the job cannot search there either
			return nil
		case err != nil:
			return searchError(err)
		}
		s.searched++
		if Within(path, s.dir) {
			return nil // the job works in it
		}
		name := named + strings.TrimPrefix(path, dir)
		switch {
		case s.forbidden.Unreadable(name):
			return s.mask(path, e)
		case s.forbidden.Unwritable != nil && s.forbidden.Unwritable(name):
			return s.freeze(path)
		}
		return nil
	})
	if _, many := errors.AsType[*untrusted.TooManyError](err); many {
		return searchError(fmt.Errorf("%s holds more than %d files; remove some, or deny no files", dir, maxSearched))
	}
	return untrusted.IgnoreGone(err)
}

func searchError(err error) error {
	return fmt.Errorf("what the kind's deny rules forbid cannot be looked for: %w", err)
}

// freeze records an unwritable path. For a link, it records the target, if it is in a
// searched directory.
func (s *maskSearch) freeze(path string) error {
	target, err := filepath.EvalSymlinks(path)
	frozen := s.found.Unwritable
	isInFrozen := len(frozen) > 0 && Within(frozen[len(frozen)-1], target)
	if err == nil && s.holds(target) && !isInFrozen { // otherwise a link leads elsewhere, or nowhere
		return s.add(&s.found.Unwritable, target)
	}
	return nil
}

// mask records an unreadable path. For a link, it records the target.
func (s *maskSearch) mask(path string, entry untrusted.Entry) error {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrPermission) {
		return searchError(err)
	}
	if err == nil { // otherwise the link leads nowhere
		return s.maskTarget(path, target, entry)
	}
	return nil
}

func (s *maskSearch) maskTarget(path, target string, entry untrusted.Entry) error {
	of := untrusted.Entry{Name: target}
	err := unix.Stat(target, &of.Stat)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case of.IsDir() && target != path && !s.holds(target), !of.IsDir() && !of.IsRegular():
		return nil // part of the system
	}
	if !of.HasOneName() {
		s.inodes[inodeOf(of)] = true
	}
	if err := s.add(&s.found.Unreadable, target); err != nil || !entry.IsDir() {
		return err
	}
	return fs.SkipDir
}

// holds reports whether a path is in a searched directory.
func (s *maskSearch) holds(path string) bool {
	return slices.ContainsFunc(s.dirs, func(dir string) bool { return Within(dir, path) && path != dir })
}

func (s *maskSearch) add(to *[]string, path string) error {
	if slices.Contains(*to, path) {
		return nil
	}
	*to = append(*to, path)
	if len(s.found.Unreadable)+len(s.found.Unwritable) > maxMasks {
		return fmt.Errorf(
			"the kind's deny rules forbid more than %d files: deny their directories, or fewer files", maxMasks,
		)
	}
	return nil
}

// otherNames finds hard links to unreadable files.
func (s *maskSearch) otherNames(ctx context.Context) error {
	for _, dir := range s.dirs {
		err := untrusted.Walk(ctx, dir, maxSearched, func(e untrusted.Entry, err error) error {
			if err == nil && e.IsRegular() && s.inodes[inodeOf(e)] { // errors were reported by the search before
				return s.add(&s.found.Unreadable, filepath.Join(dir, e.Path))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CoversIn prepares, in a directory of the server's, the covers of unreadable paths.
func CoversIn(dir string) (string, error) {
	covers := filepath.Join(dir, "covers")
	if err := os.MkdirAll(covers, 0o700); err != nil {
		return "", err
	}
	if err := os.Mkdir(filepath.Join(covers, "dir"), 0); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	file, err := os.OpenFile(filepath.Join(covers, "file"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrExist) {
		return covers, nil
	}
	if err != nil {
		return "", err
	}
	return covers, file.Close()
}

// ownPrograms are programs that the CLI itself needs, so they are never masked.
var ownPrograms = []string{"sh", "bash", "dash", "zsh", "env", "node", "bun", "claude"}

// isVersionOf reports whether a file is a version of the named program, as python3.12 is of
// python3 and x86_64-linux-gnu-gcc-13 of gcc.
func isVersionOf(name, file string) bool {
	for at := range len(file) {
		rest, ok := strings.CutPrefix(file[at:], name)
		if ok && (at == 0 || file[at-1] == '-') && (rest == "" || strings.ContainsAny(rest[:1], "-.0123456789")) {
			return true
		}
	}
	return false
}

// ProgramFiles returns the files of programs on a PATH and in the usual directories. It skips
// a link to a program of another name, such as busybox: that file is other programs, too.
func ProgramFiles(names []string, path string) (files []string) {
	for _, name := range names {
		if slices.Contains(ownPrograms, name) {
			continue
		}
		for _, dir := range append(filepath.SplitList(path), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin") {
			file, err := filepath.EvalSymlinks(filepath.Join(dir, name))
			if err != nil || !isVersionOf(name, filepath.Base(file)) || slices.Contains(files, file) {
				continue
			}
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				files = append(files, file)
			}
		}
	}
	return files
}

// omits replaces a directory that the program cannot write with what may be read of it, and reports
// whether it does: others may replace what is only covered, see withhold. It leaves directories
// alone that are of the system, have too many entries or are not shown as a whole anyway.
func (m mounts) omits(masks Masks, dir string) bool {
	if isOfSystem(dir) || !isShownInPlace(m.nearest(dir)) {
		return false
	}
	names, ok := shownIn(dir, maxMasks, func(entry untrusted.Entry) bool {
		return !slices.Contains(masks.Unreadable, filepath.Join(dir, entry.Name))
	})
	if ok {
		m.list(dir, names)
	}
	return ok
}

// mask covers what is forbidden if the sandbox shows it.
func (m mounts) mask(masks Masks) {
	for _, path := range masks.Unwritable {
		if !m.hides(path) {
			m[path] = []string{"--ro-bind-try", path, path}
		}
	}
	for _, path := range masks.Unreadable {
		info, err := os.Stat(path)
		if err != nil || m.hides(path) {
			continue
		}
		if m.omits(masks, filepath.Dir(path)) {
			continue
		}
		cover := "file"
		if info.IsDir() {
			cover = "dir"
		}
		m[path] = []string{"--ro-bind", filepath.Join(masks.Covers, cover), path}
	}
}
