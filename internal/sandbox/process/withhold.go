package process

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ringback/internal/sandbox/untrusted"
)

// A mount hides a file or directory only until another one is renamed over it, as editors and
// deployments do: Linux then takes the mount away, in all namespaces, and a running program sees the
// new one. So a file of secrets is hidden by directories of the sandbox's own: in place of the
// directory that contains it, and of those above. What may be shown of them is mounted there entry by
// entry, so the machine's directories can be renamed without an effect on a running program.

// ErrExposed is returned for a file of secrets that a sandbox cannot hide.
var ErrExposed = errors.New("a sandbox cannot hide it there")

// isFile reports whether there is something at a path that is no directory, such as a link to nothing.
func isFile(path string) bool {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Lstat(path)
	}
	return err == nil && !info.IsDir()
}

// maxLinks limits the links that lead to a file.
const maxLinks = 40

// dirsOf returns the directory that contains a file of secrets, and those with links on the way to it,
// which may lead elsewhere at any time.
func dirsOf(file string) (own string, linked []string) {
	for range maxLinks {
		link, target := firstLink(file)
		if link == "" {
			break
		}
		if dir := filepath.Dir(link); !isOfSystem(dir) { // no one replaces a link of the system
			linked = append(linked, dir)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		file = filepath.Join(target, strings.TrimPrefix(file, link))
	}
	return filepath.Dir(file), linked
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

// exposed returns an error if every program needs the files of the directory of a file of secrets, or
// if this one could write the directory.
func exposed(file, own string, linked []string, access Access) error {
	if isOfSystem(own) && !slices.Contains([]string{"/", "/dev", "/proc", "/run", "/tmp"}, own) {
		return fmt.Errorf("%s: %w, for programs need the files of %s: put it into a directory of its own", file, ErrExposed, own)
	}
	for _, dir := range append(linked, own) {
		for _, path := range slices.Concat(access.Writable, access.Lent) {
			if Within(resolved(path), dir) {
				return fmt.Errorf("%s: %w, for the program may write %s: put it elsewhere", file, ErrExposed, path)
			}
		}
	}
	return nil
}

// withholdSecrets hides the directories that lead to secrets, except for what is shown by its own
// path and, without links, other directories there. It returns the secrets' places in them.
func (s Sandbox) withholdSecrets(m mounts, access Access) (places []string, err error) {
	for _, file := range append(slices.Clone(s.opts.Secrets), s.opts.Awaited) {
		if file == "" {
			continue
		}
		own, linked := dirsOf(file)
		isMissing := file == s.opts.Awaited && !isFile(file)
		err = exposed(file, own, linked, access)
		switch {
		case err != nil && isMissing:
			continue // there is nothing to hide yet
		case err != nil:
			return nil, err
		case isMissing:
			linked = nil
		default:
			delete(m, resolved(file)) // whatever else grants it
		}
		for _, dir := range linked {
			s.withhold(m, dir, func(untrusted.Entry) bool { return false })
		}
		s.withhold(m, own, func(entry untrusted.Entry) bool {
			return entry.IsDir() || entry.Name == ".git" // which leads a linked work tree to its repository
		})
		for _, dir := range append(linked, own) {
			places = append(places, filepath.Join(dir, filepath.Base(file)))
		}
	}
	return places, nil
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
	names, _ := shownIn(dir, maxMasks, isShown)
	m.list(dir, names)
}

// detach replaces the directories above those that hide something with their present entries: a mount
// in the sandbox's own directory stays where it is, whatever the machine's directories are renamed to.
// It leaves alone directories with many entries, each of which makes the start of a program slower.
func (m mounts) detach() {
	for path, words := range maps.Clone(m) {
		if !slices.Contains(words, "--tmpfs") || slices.Contains(forTemporaryFiles, path) {
			continue
		}
		for dir := filepath.Dir(path); dir != "/" && isShownInPlace(m.nearest(dir)); dir = filepath.Dir(dir) {
			if names, ok := shownIn(dir, maxBeside, anything); ok {
				m.list(dir, names)
			}
		}
		if _, err := os.Stat(path); err != nil && !m.hides(filepath.Dir(path)) {
			delete(m, path) // there is nothing to mount it on
		}
	}
}

// withholdVersions withholds the directories that have a secret's place in what detach has listed next
// to the secret's own, and next to those above: they are earlier and later versions of it, if
// deployments swap directories.
func (s Sandbox) withholdVersions(m mounts, secrets []string) {
	for _, file := range secrets {
		for dir := filepath.Dir(file); filepath.Dir(dir) != "/"; dir = filepath.Dir(dir) {
			for path, words := range maps.Clone(m) {
				version := path + strings.TrimPrefix(file, dir)
				if filepath.Dir(path) == filepath.Dir(dir) && path != dir && isShownInPlace(words) && isFile(version) {
					s.withhold(m, filepath.Dir(version), untrusted.Entry.IsDir)
				}
			}
		}
	}
	m.detach()
}

// mayEnter reports whether the user of the jobs may enter a directory, if there is one.
func (s Sandbox) mayEnter(dir string) bool {
	var stat unix.Stat_t
	return s.user == 0 || unix.Stat(dir, &stat) != nil || stat.Mode&unix.S_IXOTH != 0 || int(stat.Uid) == s.user
}

const (
	// maxListed limits the entries of a directory that are looked at.
	maxListed = 10_000
	// maxBeside limits the entries of a directory that detach mounts one by one: 50 take 10 ms.
	maxBeside = 50
)

func anything(untrusted.Entry) bool { return true }

// shownIn returns the present entries of a directory that are to be shown. It returns false if there
// are more than most, or if it cannot be read.
func shownIn(dir string, most int, isShown func(untrusted.Entry) bool) (names []string, ok bool) {
	d, err := untrusted.OpenOwn(dir)
	if err != nil {
		return nil, false
	}
	defer d.Close()
	seen := 0
	for name, err := range d.Names() {
		entry, entryErr := d.Entry(name)
		if seen++; err != nil || seen > maxListed || len(names) > most {
			return nil, false
		}
		if entryErr == nil && isShown(entry) {
			names = append(names, name)
		}
	}
	return names, len(names) <= most
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
func (m mounts) show(path string) {
	if _, ok := m[path]; ok {
		return
	}
	if to, err := os.Readlink(path); err == nil {
		m[path] = []string{"--symlink", to, path}
		return
	}
	m[path] = []string{"--ro-bind-try", path, path}
}
