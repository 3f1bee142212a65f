package workspace

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/text/gz"
)

// Snapshot contains all changes of a job, so that another machine can continue.
type Snapshot []State

// State contains the changes in one repository.
type State struct {
	Repository string `json:"repository"`
	// Base is the commit at which the work began.
	Base string `json:"base"`
	// Tree is the git tree id of the result.
	Tree string `json:"tree"`
	// Patch is git's patch, compressed with gzip.
	Patch []byte `json:"patch"`
	// Nested contains the repositories inside the worktree, of which git stores only an id: a tar
	// archive, compressed with gzip. It is empty if there are none.
	Nested []byte `json:"nested,omitempty"`
}

// IsOf reports whether the snapshot belongs to a capture.
func (s Snapshot) IsOf(captured Trees) bool {
	for _, state := range s {
		if state.Tree != "" && state.Tree != captured[state.Repository] { // early versions stored none
			return false
		}
	}
	return true
}

// DefaultSnapshotLimit is the size limit of a snapshot if Root sets none.
const DefaultSnapshotLimit = 16 * limit.MiB

var errTooLarge = errors.New("it is too large to be kept")

// bounded is a buffer with a limit that several buffers can share.
type bounded struct {
	bytes.Buffer
	left *int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if *b.left -= int64(len(p)); *b.left < 0 {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// SnapshotLimit returns the size limit of a compressed snapshot.
func (w *Workspace) SnapshotLimit() limit.Bytes {
	return cmp.Or(w.root.SnapshotLimit, DefaultSnapshotLimit)
}

// Snapshot returns the changes up to the given trees, or nil if they are too large to store.
func (w *Workspace) Snapshot(ctx context.Context, trees Trees) (Snapshot, error) {
	var all Snapshot
	left := int64(w.SnapshotLimit())
	for _, r := range w.Repositories {
		state := State{Repository: r.Name, Tree: trees[r.Name]}
		g := w.local(w.trustedRepo(r))
		base, err := g.run(ctx, "rev-parse", baseRef)
		patch := &bounded{left: &left}
		if err == nil {
			packed := gzip.NewWriter(patch)
			err = g.do(ctx, nil, packed, diffArgs(baseRef, state.Tree, "--binary", "--patch")...)
			err = errors.Join(err, packed.Close())
		}
		nested := &bounded{left: &left}
		if err == nil {
			err = w.packNested(ctx, r, state.Tree, nested)
		}
		if left < 0 || errors.Is(err, errTooLarge) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("repository %s: %w", r.Name, err)
		}
		state.Base, state.Patch, state.Nested = base, patch.Bytes(), nested.Bytes()
		all = append(all, state)
	}
	return all, nil
}

// Restore resets a workspace to a snapshot, whatever it contains.
func (w *Workspace) Restore(ctx context.Context, s Snapshot) error {
	for _, r := range w.Repositories {
		for _, state := range s {
			if state.Repository != r.Name {
				continue
			}
			if err := w.restore(ctx, r, state); err != nil {
				return fmt.Errorf("repository %s: %w", r.Name, err)
			}
		}
	}
	return nil
}

// MarkReady records that the workspace is no longer new, and the capture that its files are based
// on; nil for none. lost is true if they are not: the capture was not available, and the change is made
// again from the beginning.
func (w *Workspace) MarkReady(at Trees, lost bool) error {
	mark := markOf(at)
	if lost {
		mark += lostMark
	}
	return untrusted.WriteFile(w.readyMark(), []byte(mark))
}

const maxMark = 1 << 10

// lostMark follows the capture in the mark of a workspace that does not contain it.
const lostMark = "lost\n"

// IsAt reports whether the workspace is the one to continue after a capture, and whether the capture is
// lost, see MarkReady. It is not if another machine has continued the job since the workspace was last
// used. An error means that neither is known.
func (w *Workspace) IsAt(at Trees) (is, lost bool, err error) {
	mark, err := untrusted.ReadFile(w.readyMark(), maxMark)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	basis, lost := strings.CutSuffix(string(mark), lostMark)
	return err == nil && basis == markOf(at), lost, err
}

func markOf(at Trees) string {
	if len(at) == 0 {
		return "nothing captured\n"
	}
	return job.Digest(job.MustJSON(at)) + "\n"
}

func (w *Workspace) readyMark() string { return filepath.Join(w.dir, "settled") }

// restoredRef is the tree that a worktree was restored to. For an unfilled nested repository, only
// this tree records its commit.
const restoredRef = "refs/ringback/restored"

// restore rebuilds the snapshot's tree in the trusted repository, and verifies its id before it
// writes a file.
func (w *Workspace) restore(ctx context.Context, r job.Repository, s State) error {
	if err := w.resetTo(ctx, r, s.Base); err != nil {
		return err
	}
	g, done, err := w.emptyIndex(r)
	if err != nil {
		return err
	}
	defer done()
	if _, err := g.run(ctx, "read-tree", s.Base); err != nil {
		return err
	}
	if len(s.Patch) > 0 {
		patch, err := gz.Unpack(s.Patch, maxUnpacked)
		if err == nil && len(patch) > 0 {
			err = g.do(ctx, bytes.NewReader(patch), io.Discard, "apply", "--cached", "--binary", "--whitespace=nowarn", "-")
		}
		if err != nil {
			return err
		}
	}
	tree, err := g.run(ctx, "write-tree")
	if err != nil {
		return err
	}
	if s.Tree != "" && tree != s.Tree {
		return fmt.Errorf("what was kept is not what was captured: it makes the tree %s in place of %s", tree, s.Tree)
	}
	if _, err := g.run(ctx, "update-ref", restoredRef, tree); err != nil {
		return err
	}
	if err := g.checkOut(ctx, tree); err != nil {
		return err
	}
	return unpackNested(w.worktree(r), s.Nested)
}

func (g git) checkOut(ctx context.Context, tree string) error {
	_, err := g.run(ctx, "read-tree", tree)
	if err == nil {
		_, err = g.run(ctx, "checkout-index", "--all", "--force", "--quiet")
	}
	return err
}

// resetTo replaces a worktree by a clone without files, at the commit at which the work began. What Claude
// has left there, such as git's settings, is gone before a git starts in it.
func (w *Workspace) resetTo(ctx context.Context, r job.Repository, base string) error {
	if _, err := w.local(w.trustedRepo(r)).run(ctx, "update-ref", baseRef, base); err != nil {
		return fmt.Errorf("the repository no longer has the commit at which the work began: %w", err)
	}
	if err := w.newWorktree(ctx, r, "--no-checkout"); err != nil {
		return err
	}
	g := w.inClone(r, w.worktree(r))
	for _, args := range [][]string{{"fetch", "--quiet", w.trustedRepo(r), baseRef}, {"reset", "--quiet", "FETCH_HEAD"}} {
		if _, err := g.run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}
