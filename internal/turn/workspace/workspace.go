package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/outbound"
	"ringback/internal/sandbox/door"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
)

// Root is the directory of the workspaces of a node, or of several nodes that share it.
type Root struct {
	// Dir contains the mirrors of repositories and the workspaces.
	Dir string
	// Environ is the server's environment. git and verifiers get little of it.
	Environ []string
	// Requests decides which repositories a request may name.
	Requests outbound.Policy
	// SnapshotLimit is the size limit of a compressed snapshot; 0 means DefaultSnapshotLimit.
	SnapshotLimit limit.Bytes
	// Sandbox confines verifiers to the repositories of their job. Doors are the ways out of it.
	Sandbox process.Sandbox
	Doors   door.Doors
}

// Workspace is the working directory of one job.
type Workspace struct {
	root Root
	id   string
	dir  string
	// tree is the directory of the worktrees below dir.
	tree string
	// copying is held while the worktrees are copied.
	copying      *sync.Mutex
	Repositories []job.Repository
}

// Of returns the workspace of a job, whether or not it exists.
func (root Root) Of(id string, repositories []job.Repository) *Workspace {
	return &Workspace{
		root: root, id: id, dir: filepath.Join(root.Dir, "workspaces", id), tree: "tree",
		copying: new(sync.Mutex), Repositories: repositories,
	}
}

// All returns the ids of the jobs that have a workspace here.
func (root Root) All() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root.Dir, "workspaces"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids, err
}

// Dir returns Claude's working directory. It contains a directory for each repository.
func (w *Workspace) Dir() string { return filepath.Join(w.dir, w.tree) }

// Caches returns the directory for downloads of package managers in a sandbox.
func (w *Workspace) Caches() string { return filepath.Join(w.dir, "caches") }

// worktree returns the directory of a repository's files, which Claude and verifiers write.
func (w *Workspace) worktree(r job.Repository) string { return filepath.Join(w.Dir(), r.Name) }

// trustedRepo returns Ringback's repository for r. Claude cannot write there; Claude's repository
// is in the worktree.
func (w *Workspace) trustedRepo(r job.Repository) string { return filepath.Join(w.dir, "git", r.Name) }

// baseRef is the commit at which the work began.
const baseRef = "refs/ringback/base"

// Prepare clones the repositories that are missing. It can be repeated after a crash: complete
// clones are kept, others start over. report is called with each step. isNew is true until
// MarkReady is called for the workspace.
func (w *Workspace) Prepare(ctx context.Context, report func(string)) (isNew bool, err error) {
	hasMark, err := untrusted.Exists(w.readyMark())
	for _, r := range w.Repositories {
		if err == nil {
			err = w.prepare(ctx, r, report)
		}
	}
	return !hasMark, err
}

// PrepareAgain is Prepare for the server's own work: it retries for as long as publishing does.
func (w *Workspace) PrepareAgain(ctx context.Context, report func(string)) (isNew bool, err error) {
	err = repeat(ctx, publishFor, "Cloning", report, pushRefused, func() (err error) {
		isNew, err = w.Prepare(ctx, report)
		return err
	})
	return isNew, err
}

// CloneError is returned if a repository cannot be cloned for another reason than this machine.
type CloneError struct {
	Repository string
	cause      error
}

func (e *CloneError) Error() string { return "repository " + e.Repository + ": " + e.cause.Error() }

// Unwrap returns the cause.
func (e *CloneError) Unwrap() error { return e.cause }

func (w *Workspace) prepare(ctx context.Context, r job.Repository, report func(string)) error {
	if isCloned, err := untrusted.Exists(w.ready(r)); isCloned || err != nil {
		return err
	}
	report("Cloning " + r.Name)
	err := w.clone(ctx, r)
	if err == nil || isOwn(err) {
		return err
	}
	return &CloneError{r.Name, err}
}

// ready returns the path of the file that marks a completely cloned repository.
func (w *Workspace) ready(r job.Repository) string { return w.trustedRepo(r) + ".ready" }

func (w *Workspace) clone(ctx context.Context, r job.Repository) error {
	if err := w.cloneMirror(ctx, r); err != nil {
		return err
	}
	// Attributes in a change could hide the change; these override them.
	if err := os.MkdirAll(filepath.Join(w.trustedRepo(r), "info"), 0o700); err != nil {
		return err
	}
	if err := untrusted.WriteFile(filepath.Join(w.trustedRepo(r), "info", "attributes"), []byte("* !diff\n")); err != nil {
		return err
	}
	g := w.local(w.trustedRepo(r))
	ref, commit, err := beginning(ctx, g, r)
	if err != nil {
		return err
	}
	if ref != head {
		branch := ref
		if !strings.HasPrefix(ref, branches) {
			branch = ""
		}
		if err := setHead(ctx, g, branch, commit); err != nil {
			return err
		}
	}
	if _, err := g.run(ctx, "update-ref", baseRef, commit); err != nil {
		return err
	}
	if err := w.newWorktree(ctx, r); err != nil {
		return err
	}
	return untrusted.WriteFile(w.ready(r), nil)
}

// newWorktree replaces the worktree by a clone of the trusted repository. The clone shares no files with it,
// which Claude could damage.
func (w *Workspace) newWorktree(ctx context.Context, r job.Repository, options ...string) error {
	if err := renew(w.worktree(r)); err != nil {
		return err
	}
	args, source := append([]string{"clone", "--quiet", "--no-hardlinks", "--template="}, options...), w.trustedRepo(r)
	if r.Depth > 0 {
		args, source = append(args, fmt.Sprintf("--depth=%d", r.Depth)), "file://"+source
	}
	if _, err := w.local(w.dir).run(ctx, append(args, source, w.worktree(r))...); err != nil {
		return err
	}
	return w.setUpClone(ctx, r, w.worktree(r))
}

// renew removes a directory, and makes the one above it.
func renew(dir string) error {
	return errors.Join(untrusted.Remove(dir), os.MkdirAll(filepath.Dir(dir), 0o700))
}

func (w *Workspace) setUpClone(ctx context.Context, r job.Repository, dir string) error {
	g := w.inClone(r, dir)
	for _, set := range [][]string{
		{"remote", "set-url", "origin", plainURL(r.URL)},
		{"config", "user.name", author},
		{"config", "user.email", authorEmail},
	} {
		if _, err := g.run(ctx, set...); err != nil {
			return err
		}
	}
	return nil
}

// The author and committer of commits.
const (
	author      = "Ringback"
	authorEmail = "ringback@localhost"
)

// IsGone reports whether the workspace is certainly not on this machine.
func (w *Workspace) IsGone() bool {
	exists, err := untrusted.Exists(w.dir)
	return !exists && err == nil
}

// Remove deletes the workspace.
func (w *Workspace) Remove() error { return untrusted.Remove(w.dir) }

// emptyIndex returns a git with an empty index for the worktree in the trusted repository, and a
// function that removes the index.
func (w *Workspace) emptyIndex(r job.Repository) (git, func(), error) {
	tmp, err := os.MkdirTemp(w.dir, "index-")
	if err != nil {
		return git{}, nil, err
	}
	g := w.local(w.worktree(r)).with(
		"GIT_DIR="+w.trustedRepo(r), "GIT_WORK_TREE="+w.worktree(r), "GIT_INDEX_FILE="+filepath.Join(tmp, "index"),
	)
	return g, func() { _ = untrusted.Remove(tmp) }, nil
}

// index returns a git with an index of the worktree's files in the trusted repository, and a
// function that removes the index.
func (w *Workspace) index(ctx context.Context, r job.Repository) (git, func(), error) {
	info, err := os.Lstat(w.worktree(r))
	if err != nil && !untrusted.IsJobs(err) {
		return git{}, nil, err
	}
	if err != nil || !info.IsDir() { // gone, or a link to another place: nothing is left of it
		if err := untrusted.Remove(w.worktree(r)); err != nil {
			return git{}, nil, err
		}
		if err := os.MkdirAll(w.worktree(r), 0o700); err != nil {
			return git{}, nil, err
		}
	}
	g, done, err := w.emptyIndex(r)
	if err != nil {
		return git{}, nil, err
	}
	restored, err := g.resolve(ctx, restoredRef)
	from := baseRef
	if restored != "" {
		from = restoredRef
	}
	if err == nil {
		_, err = g.run(ctx, "read-tree", from)
	}
	if err == nil {
		err = g.add(ctx)
	}
	if err == nil {
		err = w.keepAsDemanded(ctx, r, g, from)
	}
	if err != nil {
		done()
		return git{}, nil, err
	}
	return g, done, nil
}

var badName = lazy.Regexp(`[^A-Za-z0-9._-]+`)

// Named validates repositories and gives each a unique name.
func Named(repositories []job.Repository) ([]job.Repository, error) {
	named := make([]job.Repository, len(repositories))
	taken := map[string]bool{}
	for i, r := range repositories {
		if field, fault := r.Fault(); fault != "" {
			return nil, fmt.Errorf("repository %d: %s: %s", i+1, field, fault)
		}
		if r.Name == "" {
			r.Name = nameOf(r.URL)
		}
		base := r.Name
		for n := 2; taken[strings.ToLower(r.Name)]; n++ {
			r.Name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[strings.ToLower(r.Name)] = true
		named[i] = r
	}
	return named, nil
}

// Unusable is the reason why no work can begin in a repository, until it is changed: another attempt
// finds the same.
type Unusable struct{ reason string }

func (u *Unusable) Error() string { return u.reason }

const head = "HEAD"

// beginning returns the ref at which the work on a repository begins, by its full name, or HEAD, and its
// commit. As for git clone, a branch goes before a tag of the same name. g is in a clone of the repository.
// The names are compared exactly: git's own rules would find more, such as any commit.
func beginning(ctx context.Context, g git, r job.Repository) (ref, commit string, err error) {
	named := []string{branches + r.Branch, tags + r.Branch, r.Branch}
	if r.Branch == "" {
		named = []string{head}
	}
	text, err := g.run(ctx, "show-ref", "--head")
	if failed, ok := errors.AsType[*gitError](err); err != nil && (!ok || failed.code != 1) { // 1: it has none
		return "", "", err
	}
	ids := map[string]string{}
	for line := range strings.Lines(text) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ids[name] = id
	}
	for _, ref := range named {
		if id := ids[ref]; id != "" {
			commit, err := g.run(ctx, "rev-parse", "--verify", id+"^{commit}")
			return ref, commit, err
		}
	}
	return "", "", notThere(r.Branch, slices.Sorted(maps.Keys(ids)))
}

// notThere describes why a repository with these refs has none to begin at.
func notThere(branch string, refs []string) error {
	var found []string
	for _, ref := range refs {
		if name, ok := strings.CutPrefix(ref, branches); ok {
			found = append(found, name)
		}
	}
	others := "its branches are " + excerpt.Head(strings.Join(found, ", "), 300)
	switch {
	case len(found) == 0 && branch == "":
		return &Unusable{"it is empty: push a first commit to it"}
	case len(found) == 0:
		return &Unusable{fmt.Sprintf("it has no branch yet, so none named %s: push a first commit to it", branch)}
	case branch == "":
		return &Unusable{"its default branch does not exist (its HEAD points to no branch): name a branch; " + others}
	}
	return &Unusable{fmt.Sprintf("it has no branch or tag named %s: name another one; %s", branch, others)}
}

// nameOf returns the last part of an address as a directory name.
func nameOf(address string) string {
	address = strings.TrimRight(address, "/")
	if i := strings.LastIndexByte(address, ':'); i >= 0 && !strings.Contains(address[i:], "/") {
		address = address[i+1:]
	}
	name := strings.Trim(badName().ReplaceAllString(strings.TrimSuffix(path.Base(address), ".git"), "-"), ".-")
	if !job.IsRepositoryName(name) {
		return "repository"
	}
	return name
}
