package workspace

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Snapshot is all that a job has changed, so that another machine can go on.
type Snapshot []State

// State is what has changed in one repository.
type State struct {
	Repository string `json:"repository"`
	// Base is the commit at which the work began.
	Base string `json:"base"`
	// Tree is git's id of what the work led to.
	Tree string `json:"tree"`
	// Patch is git's own, compressed by gzip.
	Patch []byte `json:"patch"`
}

// MaxSnapshot is how large a snapshot may be, in bytes.
const MaxSnapshot = 4 << 20

// Snapshot returns what has changed up to the given trees; nil when it is too
// large to be kept.
func (w *Workspace) Snapshot(ctx context.Context, trees Trees) (Snapshot, error) {
	var all Snapshot
	size := 0
	for _, r := range w.Repositories {
		g := local(w.root.Environ, w.trustedRepo(r))
		base, err := g.run(ctx, "rev-parse", baseRef)
		var patch bytes.Buffer
		if err == nil {
			packed := gzip.NewWriter(&patch)
			err = g.pipe(ctx, packed, diffArgs(trees[r.Name], "--binary", "--patch")...)
			_ = packed.Close() // it writes to memory
		}
		if err != nil {
			return nil, fmt.Errorf("repository %s: %w", r.Name, err)
		}
		if size += patch.Len(); size > MaxSnapshot {
			return nil, nil
		}
		all = append(all, State{r.Name, strings.TrimSpace(base), trees[r.Name], patch.Bytes()})
	}
	return all, nil
}

// Restore brings a workspace that was just cloned to where a snapshot was taken.
func (w *Workspace) Restore(ctx context.Context, s Snapshot) error {
	for _, r := range w.Repositories {
		for _, state := range s {
			if state.Repository != r.Name {
				continue
			}
			if err := w.restore(ctx, w.worktree(r), w.trustedRepo(r), state); err != nil {
				return fmt.Errorf("repository %s: %w", r.Name, err)
			}
		}
	}
	return nil
}

// MarkReady notes that the workspace is where it should be: it is not new any more.
func (w *Workspace) MarkReady() error { return os.WriteFile(w.readyMark(), nil, 0o600) }

func (w *Workspace) readyMark() string { return filepath.Join(w.dir, "settled") }

func (w *Workspace) restore(ctx context.Context, worktree, trustedRepo string, s State) error {
	if _, err := local(w.root.Environ, trustedRepo).run(ctx, "update-ref", baseRef, s.Base); err != nil {
		return err
	}
	g := local(w.root.Environ, worktree)
	for _, args := range [][]string{{"fetch", "--quiet", trustedRepo, baseRef}, {"reset", "--quiet", "--hard", s.Base}, {"clean", "--quiet", "-ffdx"}} {
		if _, err := g.run(ctx, args...); err != nil {
			return err
		}
	}
	packed, err := gzip.NewReader(bytes.NewReader(s.Patch))
	if err != nil {
		return err
	}
	patch, err := io.ReadAll(packed)
	if err != nil || len(patch) == 0 {
		return err
	}
	return g.feed(ctx, patch, "apply", "--binary", "--whitespace=nowarn", "-")
}
