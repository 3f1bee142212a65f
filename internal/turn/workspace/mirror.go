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
	"ringback/internal/job/limit"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
)

// A mirror keeps the objects of a remote, so that a job receives only new ones. What the remote has now is
// never taken from it: each job asks its remote, in one connection. A mirror has two permanent lock files next
// to its directory: <mirror>.lock is locked while the mirror changes, and while a job clones it; except for the
// first job, no one waits for a remote then. <mirror>.use is locked shared until the job has its clone; its
// modification time is the time of the last use. Removing a mirror requires both locks exclusively, among all
// servers.

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

// cloneMirror makes the trusted repository, from what its remote has now.
func (w *Workspace) cloneMirror(ctx context.Context, r job.Repository) error {
	dir := w.root.mirrorDir(r)
	if err := errors.Join(renew(w.trustedRepo(r)), os.MkdirAll(filepath.Dir(dir), 0o700)); err != nil {
		return err
	}
	use, lock := flock.New(dir+useSuffix), flock.New(dir+lockSuffix)
	defer func() { _ = errors.Join(lock.Unlock(), use.Unlock()) }()
	err := use.RLock()
	if now := time.Now(); err == nil {
		err = os.Chtimes(dir+useSuffix, now, now)
	}
	if err == nil {
		err = lockFor(ctx, lock)
	}
	if err == nil {
		err = w.updateMirror(ctx, r, dir, lock)
	}
	if err == nil {
		_, err = w.local(w.dir, dir).run(ctx, "clone", "--quiet", "--bare", "--template=", dir, w.trustedRepo(r))
	}
	return err
}

const (
	useSuffix  = ".use"
	lockSuffix = ".lock"
	// removedSuffix marks a mirror that is being removed.
	removedSuffix = ".removed"
	// lockDelay is the time between two attempts to lock a mirror.
	lockDelay = 20 * time.Millisecond
)

// lockFor locks a mirror for one job, unless the job's turn ends before.
func lockFor(ctx context.Context, lock *flock.Flock) error {
	_, err := lock.TryLockContext(ctx, lockDelay)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// updateMirror makes a mirror equal to its remote, with its HEAD, or creates it. The lock is held before and
// after, and released while another job could use the mirror.
func (w *Workspace) updateMirror(ctx context.Context, r job.Repository, dir string, lock *flock.Flock) error {
	isComplete, err := untrusted.Exists(filepath.Join(dir, "complete"))
	if err != nil {
		return err
	}
	if !isComplete {
		if err := untrusted.Remove(dir); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if err := w.root.receive(ctx, r, dir, ""); err != nil {
			return err
		}
		return untrusted.WriteFile(filepath.Join(dir, "complete"), nil)
	}
	if err := errors.Join(removeLocks(ctx, dir), w.root.resetConfig(ctx, dir), lock.Unlock()); err != nil {
		return err
	}
	now, err := os.MkdirTemp(w.dir, "remote-")
	if err != nil {
		return err
	}
	defer func() { _ = untrusted.Remove(now) }()
	if err := w.root.receive(ctx, r, now, dir); err != nil {
		return err
	}
	if err := lockFor(ctx, lock); err != nil {
		return err
	}
	return w.root.equalize(ctx, dir, now)
}

// receive clones what a remote has now into an empty directory. The clone borrows the objects that the mirror
// has, if there is one. A clone is git's only command that reads the refs, the objects and HEAD of a remote in
// one connection.
func (root Root) receive(ctx context.Context, r job.Repository, dir, mirror string) error {
	g, address, err := root.connect(r, dir)
	if err != nil {
		return err
	}
	args := []string{"clone", "--quiet", "--bare", "--no-local", "--template="}
	if mirror != "" {
		args = append(args, "--reference-if-able="+mirror)
		g.access.Readable = append(g.access.Readable, mirror)
	}
	_, err = g.run(ctx, append(args, "--", address, dir)...)
	return err
}

// equalize makes a mirror equal to a repository that borrows from it.
func (root Root) equalize(ctx context.Context, dir, from string) error {
	access := process.Access{Writable: []string{dir, from}}
	args := []string{
		"fetch", "--quiet", "--prune", "--force", "--update-shallow", "--", from,
		"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*",
	}
	branch, commit, err := root.local(from, access).head(ctx)
	if err != nil {
		return err
	}
	if branch == "" { // it may be on no branch
		args = append(args, head)
	}
	g := root.local(dir, access)
	if _, err := g.run(ctx, args...); err != nil {
		return err
	}
	return setHead(ctx, g, branch, commit)
}

// head returns the branch that is the HEAD of a repository, by its full name, whether or not it exists; if
// none is, the commit.
func (g git) head(ctx context.Context) (branch, commit string, err error) {
	branch, err = g.run(ctx, "symbolic-ref", "--quiet", head)
	if failed, ok := errors.AsType[*gitError](err); ok && failed.code == 1 {
		commit, err = g.run(ctx, "rev-parse", "--verify", head)
	}
	return branch, commit, err
}

// branches and tags begin the full names of branches and tags.
const (
	branches = "refs/heads/"
	tags     = "refs/tags/"
)

// setHead sets the HEAD of one of Ringback's bare repositories to a branch, by its full name; to a commit if
// that is empty.
func setHead(ctx context.Context, g git, branch, commit string) error {
	args := []string{"update-ref", "--no-deref", head, commit}
	if branch != "" {
		args = []string{"symbolic-ref", head, branch}
	}
	_, err := g.run(ctx, args...)
	return err
}

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

func lastUse(dir string) time.Time {
	info, err := os.Stat(dir + useSuffix)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

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
