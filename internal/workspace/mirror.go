package workspace

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"ringback/internal/job"
	"ringback/internal/limit"
	"ringback/internal/process"
	"ringback/internal/untrusted"
)

// A mirror is the copy of a repository that all jobs clone from. It has two permanent lock files
// next to its directory: <mirror>.lock is locked to update the mirror and to clone what was fetched, before
// another job fetches. <mirror>.use is locked shared until then; its modification time is the time of the
// last use. Removing a mirror requires both locks exclusively, among all servers.

// mirrorDir returns the directory of a repository's mirror. Requests that may not use the server's
// logins have a separate mirror, because the logins may give access to more of the remote.
func (root Root) mirrorDir(r job.Repository) string {
	name := r.URL
	if r.FromRequest && !r.Logins {
		name += "\x00of a request"
	}
	return filepath.Join(root.mirrorsDir(), job.Digest([]byte(name))[:24])
}

func (root Root) mirrorsDir() string { return filepath.Join(root.Dir, "mirrors") }

// mirror updates the mirror of a repository. It stays as it is until release is called.
func (root Root) mirror(ctx context.Context, r job.Repository) (dir string, release func(), err error) {
	dir = root.mirrorDir(r)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", nil, err
	}
	use, lock := flock.New(dir+useSuffix), flock.New(dir+lockSuffix)
	release = func() { _ = errors.Join(lock.Unlock(), use.Unlock()) }
	now := time.Now()
	if err = use.RLock(); err == nil {
		err = os.Chtimes(dir+useSuffix, now, now)
	}
	if err == nil {
		err = lock.Lock()
	}
	if err == nil {
		err = root.update(ctx, r, dir)
	}
	if err != nil {
		release()
		return "", nil, err
	}
	return dir, release, nil
}

const (
	useSuffix  = ".use"
	lockSuffix = ".lock"
	// removedSuffix marks a mirror that is being removed.
	removedSuffix = ".removed"
)

// update updates a mirror, or creates it.
func (root Root) update(ctx context.Context, r job.Repository, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return root.fetch(ctx, r, dir)
	}
	if err := untrusted.Remove(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	g, address, err := root.connect(r, dir)
	if err != nil {
		return err
	}
	if _, err := g.run(ctx, "clone", "--quiet", "--bare", "--template=", "--", address, dir); err != nil {
		return err
	}
	if err := untrusted.WriteFile(filepath.Join(dir, "complete"), nil); err != nil {
		return err
	}
	return root.fetch(ctx, r, dir)
}

// fetch makes a mirror equal to its remote, with its HEAD.
func (root Root) fetch(ctx context.Context, r job.Repository, dir string) error {
	if err := errors.Join(removeLocks(ctx, dir), root.resetConfig(ctx, dir)); err != nil {
		return err
	}
	g, address, err := root.connect(r, dir)
	if err != nil {
		return err
	}
	branch, commit, err := g.head(ctx, address)
	if err != nil {
		return err
	}
	args := []string{
		"fetch", "--quiet", "--prune", "--force", "--", address, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*",
	}
	if commit != "" && branch == "" { // it may be on no branch
		args = append(args, "HEAD")
	}
	if _, err := g.run(ctx, args...); err != nil {
		return err
	}
	return setHead(ctx, root.local(dir, process.Access{Writable: []string{dir}}), branch, commit)
}

// head asks the remote for the commit that a clone of it begins at, and for the branch that this is the tip
// of. Both are empty if its HEAD leads nowhere; branch is empty if HEAD is no branch.
func (g git) head(ctx context.Context, address string) (branch, commit string, err error) {
	text, err := g.run(ctx, "ls-remote", "--symref", "--", address, "HEAD")
	for line := range strings.Lines(text) {
		value, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		to, isLink := strings.CutPrefix(value, "ref: ")
		switch {
		case name != "HEAD":
		case !isLink:
			commit = value
		case strings.HasPrefix(to, branches):
			branch = to
		}
	}
	return branch, commit, err
}

// branches and tags are what the full names of branches and tags begin with.
const (
	branches = "refs/heads/"
	tags     = "refs/tags/"
)

// setHead sets the HEAD of one of Ringback's bare repositories to a branch, by its full name; to a commit if
// that is empty, and to nowhere if both are.
func setHead(ctx context.Context, g git, branch, commit string) error {
	args := []string{"update-ref", "--no-deref", "HEAD", commit}
	switch {
	case branch != "":
		args = []string{"symbolic-ref", "HEAD", branch}
	case commit == "":
		args = []string{"symbolic-ref", "HEAD", "refs/ringback/nowhere"}
	}
	_, err := g.run(ctx, args...)
	return err
}

// storedMirror is an existing mirror.
type storedMirror struct {
	dir  string
	size limit.Bytes
	used time.Time
}

// PruneMirrors removes mirrors, least recently used first, until their total size is at most most.
// It keeps mirrors in use by any server. It returns the number removed.
func (root Root) PruneMirrors(most limit.Bytes) (removed int, err error) {
	mirrors, err := root.mirrors()
	if err != nil {
		return 0, err
	}
	total := limit.Bytes(0)
	for _, m := range mirrors {
		total += m.size
	}
	for _, m := range mirrors {
		if total <= most {
			break
		}
		gone, err := m.remove()
		if err != nil {
			return removed, err
		}
		if gone {
			total -= m.size
			removed++
		}
	}
	return removed, nil
}

// mirrors returns the existing mirrors, least recently used first. It deletes the remains of
// earlier removals.
func (root Root) mirrors() ([]storedMirror, error) {
	entries, err := os.ReadDir(root.mirrorsDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []storedMirror
	for _, e := range entries {
		dir := filepath.Join(root.mirrorsDir(), e.Name())
		switch {
		case !e.IsDir():
		case strings.HasSuffix(e.Name(), removedSuffix):
			err = errors.Join(err, untrusted.Remove(dir))
		default:
			all = append(all, storedMirror{dir, sizeOf(dir), lastUse(dir)})
		}
	}
	slices.SortFunc(all, func(a, b storedMirror) int { return a.used.Compare(b.used) })
	return all, err
}

// lastUse returns when a mirror was last used.
func lastUse(dir string) time.Time {
	info, err := os.Stat(dir + useSuffix)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// sizeOf returns the total size of the files below a directory, which may be changing.
func sizeOf(dir string) limit.Bytes {
	size := limit.Bytes(0)
	_ = untrusted.Walk(context.Background(), dir, math.MaxInt, func(e untrusted.Entry, err error) error {
		if err == nil && e.IsRegular() {
			size += limit.Bytes(e.Stat.Size)
		}
		return nil
	})
	return size
}

// remove removes the mirror unless it is in use.
func (m storedMirror) remove() (bool, error) {
	for _, suffix := range []string{useSuffix, lockSuffix} {
		lock := flock.New(m.dir + suffix)
		mine, err := lock.TryLock()
		if err != nil || !mine {
			return false, err
		}
		defer func() { _ = lock.Unlock() }()
	}
	if !lastUse(m.dir).Equal(m.used) { // it was used after it was listed
		return false, nil
	}
	gone := m.dir + removedSuffix
	if err := untrusted.Remove(gone); err != nil {
		return false, err
	}
	err := os.Rename(m.dir, gone)
	if errors.Is(err, fs.ErrNotExist) { // another server has removed it after it was listed
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, untrusted.Remove(gone)
}
