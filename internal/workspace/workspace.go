package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ringback/internal/door"
	"ringback/internal/job"
	"ringback/internal/limit"
	"ringback/internal/outbound"
	"ringback/internal/process"
)

// Root is where the workspaces of a node lie, or of several that share it.
type Root struct {
	// Dir holds mirrors of repositories, and the workspaces.
	Dir string
	// Environ is the server's environment, of which git and verifiers see little.
	Environ []string
	// Requests says which repositories a request may name.
	Requests outbound.Policy
	// SnapshotLimit is how large a snapshot may be, compressed; 0: DefaultSnapshotLimit.
	SnapshotLimit limit.Bytes
	// Sandbox confines verifiers to the repositories of their job, and Doors lead out of it.
	Sandbox process.Sandbox
	Doors   door.Doors
}

// Workspace is where one job works.
type Workspace struct {
	root Root
	id   string
	dir  string
	// Repositories are what it holds.
	Repositories []job.Repository
}

// Of returns the workspace of a job, whether it is there or not.
func (root Root) Of(id string, repositories []job.Repository) *Workspace {
	return &Workspace{root: root, id: id, dir: filepath.Join(root.Dir, "workspaces", id), Repositories: repositories}
}

// Dir is what Claude works in: it holds a directory for each repository.
func (w *Workspace) Dir() string { return filepath.Join(w.dir, "tree") }

// Caches is where package managers keep what they fetch for the job, in a sandbox.
func (w *Workspace) Caches() string { return filepath.Join(w.dir, "caches") }

// worktree is where the files of a repository lie that Claude and verifiers write.
func (w *Workspace) worktree(r job.Repository) string { return filepath.Join(w.Dir(), r.Name) }

// trustedRepo is our repository of r: Claude cannot write there. Its own is in the
// worktree.
func (w *Workspace) trustedRepo(r job.Repository) string { return filepath.Join(w.dir, "git", r.Name) }

// baseRef is where the work began.
const baseRef = "refs/ringback/base"

// Prepare clones what is not there yet. It can be repeated after any crash: what
// is complete is kept, what is not is begun anew. report is called with what it does.
// isNew is whether the workspace was made just now, until MarkReady says otherwise.
func (w *Workspace) Prepare(ctx context.Context, report func(string)) (isNew bool, err error) {
	_, err = os.Stat(w.readyMark())
	isNew = err != nil
	for _, r := range w.Repositories {
		if _, err := os.Stat(w.ready(r)); err == nil {
			continue
		}
		report("Cloning " + r.Name)
		if err := w.clone(ctx, r); err != nil {
			return isNew, fmt.Errorf("repository %s: %w", r.Name, err)
		}
	}
	return isNew, nil
}

// ready is a file that says that a repository was cloned completely.
func (w *Workspace) ready(r job.Repository) string { return w.trustedRepo(r) + ".ready" }

func (w *Workspace) clone(ctx context.Context, r job.Repository) error {
	mirror, release, err := w.root.mirror(ctx, r)
	if err != nil {
		return err
	}
	defer release()
	for _, dir := range []string{w.trustedRepo(r), w.worktree(r)} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return err
		}
	}
	if _, err := w.local(w.dir).run(ctx, "clone", "--quiet", "--bare", "--template=", mirror, w.trustedRepo(r)); err != nil {
		return err
	}
	// Attributes that come with a change could hide it; these win over them.
	if err := os.MkdirAll(filepath.Join(w.trustedRepo(r), "info"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.trustedRepo(r), "info", "attributes"), []byte("* !diff\n"), 0o600); err != nil {
		return err
	}
	at := "HEAD"
	if r.Branch != "" {
		at = "refs/heads/" + r.Branch
	}
	if _, err := w.local(w.trustedRepo(r)).run(ctx, "update-ref", baseRef, at+"^{commit}"); err != nil {
		return fmt.Errorf("the branch %s is not there", cmp.Or(r.Branch, "HEAD"))
	}
	// Claude's copy shares no file with the mirror, which it could spoil else.
	args := []string{"clone", "--quiet", "--no-hardlinks", "--template="}
	source := mirror
	if r.Depth > 0 {
		args, source = append(args, fmt.Sprintf("--depth=%d", r.Depth)), "file://"+mirror
	}
	if r.Branch != "" {
		args = append(args, "--branch", r.Branch)
	}
	if _, err := w.local(w.dir).run(ctx, append(args, source, w.worktree(r))...); err != nil {
		return err
	}
	if err := w.setUpClone(ctx, r, w.worktree(r)); err != nil {
		return err
	}
	return os.WriteFile(w.ready(r), nil, 0o600)
}

// setUpClone says in a clone where it came from, and who commits.
func (w *Workspace) setUpClone(ctx context.Context, r job.Repository, dir string) error {
	g := w.local(dir)
	for _, set := range [][]string{{"remote", "set-url", "origin", plainURL(r.URL)}, {"config", "user.name", author}, {"config", "user.email", authorEmail}} {
		if _, err := g.run(ctx, set...); err != nil {
			return err
		}
	}
	return nil
}

// Who commits.
const (
	author      = "Ringback"
	authorEmail = "ringback@localhost"
)

// Exists reports whether the workspace is on this machine.
func (w *Workspace) Exists() bool {
	_, err := os.Stat(w.dir)
	return err == nil
}

// Remove deletes the workspace.
func (w *Workspace) Remove() error {
	err := os.RemoveAll(w.dir)
	if errors.Is(err, os.ErrPermission) { // directories that were made unwritable
		_ = filepath.WalkDir(w.dir, func(path string, d os.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(path, 0o700) //nolint:gosec // it is deleted next
			}
			return nil
		})
		err = os.RemoveAll(w.dir)
	}
	return err
}

// index is our view of a repository: what lies in the workspace, as an index of
// our own repository.
func (w *Workspace) index(ctx context.Context, r job.Repository) (git, func(), error) {
	info, err := os.Lstat(w.worktree(r))
	if err != nil || !info.IsDir() { // gone, or a link to somewhere else: nothing is left of it
		if err := os.RemoveAll(w.worktree(r)); err != nil {
			return git{}, nil, err
		}
		if err := os.MkdirAll(w.worktree(r), 0o700); err != nil {
			return git{}, nil, err
		}
	}
	tmp, err := os.MkdirTemp(w.dir, "index-")
	if err != nil {
		return git{}, nil, err
	}
	done := func() { _ = os.RemoveAll(tmp) }
	g := w.local(w.worktree(r)).with(
		"GIT_DIR="+w.trustedRepo(r), "GIT_WORK_TREE="+w.worktree(r), "GIT_INDEX_FILE="+filepath.Join(tmp, "index"),
	)
	from := baseRef
	if _, err := g.run(ctx, "rev-parse", "--verify", "--quiet", restoredRef); err == nil {
		from = restoredRef
	}
	if _, err = g.run(ctx, "read-tree", from); err == nil {
		_, err = g.run(ctx, "add", "--all", "--ignore-errors", ".")
	}
	// What cannot be added is left out, and told, see leftOut.
	if failed, ok := errors.AsType[*gitError](err); ok && failed.command == "add" && (failed.code == 1 || strings.Contains(failed.output, "adding files failed")) {
		err = nil
	}
	if err != nil {
		done()
		return git{}, nil, err
	}
	return g, done, nil
}
