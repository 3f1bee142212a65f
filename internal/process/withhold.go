package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ringback/internal/untrusted"
)

// A mount hides a file only until another one is renamed over it, as editors do: Linux then takes
// the mount away, in all namespaces, and a running program sees the new file. So a file is hidden by
// a directory in its directory's place, which contains only what may be shown.

// ErrExposed is returned for a file of secrets that a sandbox cannot hide.
var ErrExposed = errors.New("a sandbox cannot hide it there")

// secretDirs are the directories that lead to a file of secrets.
type secretDirs struct {
	// own is the directory that contains the file.
	own string
	// linked contain links on the way to it, which may lead elsewhere at any time.
	linked []string
}

// maxLinks limits the links that lead to a file.
const maxLinks = 40

func dirsOf(file string) (dirs secretDirs) {
	for range maxLinks {
		link, target := firstLink(file)
		if link == "" {
			break
		}
		if dir := filepath.Dir(link); !isOfSystem(dir) { // no one replaces a link of the system
			dirs.linked = append(dirs.linked, dir)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		file = filepath.Join(target, strings.TrimPrefix(file, link))
	}
	dirs.own = filepath.Dir(file)
	return dirs
}

// firstLink returns the first path above a file, or its own, that is a link; "" if there is none.
func firstLink(file string) (link, target string) {
	for at := 1; at <= len(file); at++ {
		if at < len(file) && file[at] != '/' {
			continue
		}
		if target, err := os.Readlink(file[:at]); err == nil {
			return file[:at], target
		}
	}
	return "", ""
}

// canHide returns an error that names a file of secrets in a directory with files that every program
// needs.
func canHide(secrets []string) error {
	for _, file := range secrets {
		dir := dirsOf(file).own
		if isOfSystem(dir) && !slices.Contains([]string{"/", "/dev", "/proc", "/run", "/tmp"}, dir) {
			return fmt.Errorf("%s: %w, for programs need the files of %s: put it into a directory of its own", file, ErrExposed, dir)
		}
	}
	return nil
}

// keepsSecrets returns an error if a program could write a directory with secrets.
func (s Sandbox) keepsSecrets(access Access) error {
	for _, file := range s.opts.Secrets {
		dirs := dirsOf(file)
		for _, dir := range append(dirs.linked, dirs.own) {
			for _, place := range slices.Concat(access.Writable, access.Lent) {
				if Within(resolved(place), dir) {
					return fmt.Errorf("%s: %w, for the program may write %s: put it elsewhere", file, ErrExposed, place)
				}
			}
		}
	}
	return nil
}

// withholdSecrets hides the directories that lead to secrets, except for what is shown by its own
// path and, without links, other directories there.
func (s Sandbox) withholdSecrets(m mounts) {
	for _, file := range s.opts.Secrets {
		dirs := dirsOf(file)
		delete(m, resolved(file)) // whatever else grants it
		for _, dir := range dirs.linked {
			s.withhold(m, dir, func(untrusted.Entry) bool { return false })
		}
		// .git leads a linked work tree to its repository.
		s.withhold(m, dirs.own, func(entry untrusted.Entry) bool { return entry.IsDir() || entry.Name == ".git" })
	}
}

// withhold replaces a directory by what may be shown of it, if a program could enter it.
func (s Sandbox) withhold(m mounts, dir string, isShown func(untrusted.Entry) bool) {
	if dir == "/" {
		return // a sandbox shows no files there anyway
	}
	for at := dir; ; at = filepath.Dir(at) {
		words, isMounted := m[at]
		if slices.Contains(words, "--tmpfs") || !s.mayEnter(at) {
			return
		}
		if isMounted || at == "/" {
			break
		}
	}
	names, _ := shownIn(dir, isShown)
	m.list(dir, names)
}

// mayEnter reports whether the user of the jobs may enter a directory.
func (s Sandbox) mayEnter(dir string) bool {
	var stat unix.Stat_t
	return s.user == 0 || unix.Stat(dir, &stat) == nil && (stat.Mode&unix.S_IXOTH != 0 || int(stat.Uid) == s.user)
}

// maxListed limits the entries of a directory that are looked at.
const maxListed = 10_000

// shownIn returns the present entries of a directory that are to be shown. It returns false if there
// are too many, or if it cannot be read.
func shownIn(dir string, isShown func(untrusted.Entry) bool) (names []string, ok bool) {
	d, err := untrusted.OpenOwn(dir)
	if err != nil {
		return nil, false
	}
	defer d.Close()
	seen := 0
	for name, err := range d.Names() {
		entry, entryErr := d.Entry(name)
		if seen++; err != nil || seen > maxListed || len(names) > maxMasks {
			return nil, false
		}
		if entryErr == nil && isShown(entry) {
			names = append(names, name)
		}
	}
	return names, true
}

// list replaces a directory with these of its entries, read-only.
func (m mounts) list(dir string, names []string) {
	mode := fs.FileMode(0o755)
	if info, err := os.Stat(dir); err == nil {
		mode = info.Mode().Perm()
	}
	m.temporary(dir, fmt.Sprintf("%04o", mode))
	for _, name := range names {
		m.show(filepath.Join(dir, name))
	}
}

// show shows what is at a path of the machine, read-only, if nothing else is mounted there. A link
// remains a link.
func (m mounts) show(place string) {
	if _, ok := m[place]; ok {
		return
	}
	if to, err := os.Readlink(place); err == nil {
		m[place] = []string{"--symlink", to, place}
		return
	}
	m[place] = []string{"--ro-bind-try", place, place}
}
