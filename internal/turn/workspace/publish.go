package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
	"ringback/internal/text/literal"
)

// PublishOptions configure how approved changes are published.
type PublishOptions struct {
	RequestID string
	// Trees are the approved trees. If a repository has none, its current files are published.
	Trees Trees
	// Message and Time are those of the commit. The same change with the same Message and Time
	// makes the same commit on every machine, so pushing it twice is harmless.
	Message string
	Time    time.Time
	// Commands are a kind's finalize: commands. sh runs them in a clone of each changed repository
	// once its branch is pushed. The last URL that they print is the pull request's.
	Commands []string
	Limits   limit.Limits
	// Earlier is the outcome of an earlier attempt or round. If it has a Branch, that may already exist:
	// it is then updated even if nothing has changed any more.
	Earlier job.Finalized
	// PullRequest opens a pull request if the repository is on GitHub and gh is on PATH.
	PullRequest bool
	Marker      string
	// MayFunc is called before each push, command and pull request, with the outcome so far. Its error
	// is the reason to stop.
	MayFunc func(context.Context, job.Finalized) error
	Report  func(string)
	branch  string
}

// Publish commits the changes to the job's branch in each repository, pushes it, and runs the
// commands. It can be repeated; completed steps are kept. It reports failures by repository.
func (w *Workspace) Publish(ctx context.Context, o PublishOptions) ([]job.Finalized, error) {
	all := make([]job.Finalized, len(w.Repositories))
	for i, r := range w.Repositories {
		done, err := w.publish(ctx, r, o)
		if tree := o.Trees[r.Name]; err != nil && tree != "" && ctx.Err() == nil && w.lacks(ctx, r, tree) {
			err = &DamagedError{r.Name}
		}
		if isOwn(err) {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		if err != nil {
			done.Error = err.Error()
		}
		all[i] = done
	}
	return all, nil
}

// DamagedError is returned if this machine has lost files of a repository's clone, or of what was approved.
type DamagedError struct{ Repository string }

func (e *DamagedError) Error() string {
	return "this server has lost files of " + e.Repository
}

// lacks reports whether the trusted repository lacks objects of a tree or of the base: no remote is to blame for
// what it was not sent.
func (w *Workspace) lacks(ctx context.Context, r job.Repository, tree string) bool {
	lost, err := w.local(w.trustedRepo(r)).run(ctx, "rev-list", "--objects", "--quiet", "--missing=print", baseRef, tree)
	failed, ok := errors.AsType[*gitError](err)
	return ok && failed.code > 0 || strings.Contains(lost, "?")
}

// isOwn reports whether an error is due to this machine, which lacks disk space or file descriptors, for
// example: a system call has failed, or a git that accesses no remote.
func isOwn(err error) bool {
	_, isErrno := errors.AsType[syscall.Errno](err)
	if _, isDamaged := errors.AsType[*DamagedError](err); isDamaged || isErrno {
		return true
	}
	failed, ok := errors.AsType[*gitError](err)
	return ok && (!failed.remote || failed.code < 0 || failed.incomplete)
}

func (w *Workspace) publish(ctx context.Context, r job.Repository, o PublishOptions) (job.Finalized, error) {
	earlier, err := w.upgraded(ctx, r, o)
	done := job.Finalized{
		Repository: r.Name, Tree: o.Trees[r.Name], Branch: earlier.Branch, Commit: earlier.Commit,
		Pushed: pushed(earlier), Public: earlier.KnownPublic(), URL: earlier.URL,
	}
	if err != nil || earlier.Has(done.Tree, o.Commands) {
		return earlier, err
	}
	err = errors.Join(removeLocks(ctx, w.trustedRepo(r)), w.root.resetConfig(ctx, w.trustedRepo(r)))
	if err != nil {
		return done, err
	}
	if o.branch, err = w.branchOf(ctx, r, o); err != nil {
		return done, err
	}
	commit, err := w.commit(ctx, r, o)
	if err != nil {
		return done, err
	}
	if commit == "" {
		return job.Finalized{Repository: r.Name, Tree: done.Tree, Unchanged: true}, nil
	}
	done.Commit, done.Branch = commit, o.branch
	if earlier.Tree == done.Tree {
		done.FinalizersDone = slices.Clone(earlier.FinalizersDone)
	}
	done.Finished() // otherwise none would look like an earlier version's record
	if err := w.push(ctx, r, o, &done); err != nil {
		return done, err
	}
	if o.PullRequest {
		w.openPullRequest(ctx, r, o, &done)
	}
	if done.Finalizers > 0 { // they may have printed it
		done.URL = cmp.Or(earlier.URL, done.URL)
	}
	return done, w.finalize(ctx, r, o, &done)
}

// upgraded returns the earlier outcome with what an earlier version did not record: its tree, and which
// commands succeeded.
func (w *Workspace) upgraded(ctx context.Context, r job.Repository, o PublishOptions) (f job.Finalized, err error) {
	f = o.Earlier
	if f.Commit == "" {
		return f, nil
	}
	if f.Tree == "" { // none if the commit is on another machine only
		f.Tree, err = w.local(w.trustedRepo(r)).resolve(ctx, f.Commit+"^{tree}")
	}
	if f.FinalizersDone == nil {
		f.Finished(o.Commands[:len(o.Commands)-len(f.Unfinished(o.Commands))]...)
	}
	return f, err
}

// finalize runs the commands that have not succeeded for the approved tree, in a clone of it. It does not
// use Claude's worktree, because the git configuration, the hooks and unreviewed files there are Claude's,
// and the commands have the user's credentials. The last URL printed becomes that of the outcome.
func (w *Workspace) finalize(ctx context.Context, r job.Repository, o PublishOptions, done *job.Finalized) error {
	commands := done.Unfinished(o.Commands)
	if len(commands) == 0 {
		return nil
	}
	parent, err := os.MkdirTemp(w.dir, "publish-")
	if err != nil {
		return err
	}
	defer func() { _ = untrusted.Remove(parent) }()
	dir := filepath.Join(parent, r.Name)
	if _, err := w.local(w.dir).run(
		ctx, "clone", "--quiet", "--no-hardlinks", "--template=", "--branch", o.branch, "--", w.trustedRepo(r), dir,
	); err != nil {
		return err
	}
	if err := w.setUpClone(ctx, r, dir); err != nil {
		return err
	}
	for _, command := range commands {
		if err := o.MayFunc(ctx, *done); err != nil {
			return err
		}
		address, err := w.runFinalizer(ctx, r, o, dir, command)
		done.URL = cmp.Or(address, done.URL)
		if err != nil {
			return err
		}
		done.Finished(command)
	}
	return nil
}

// commit creates the commit. It returns "" if nothing has changed.
func (w *Workspace) commit(ctx context.Context, r job.Repository, o PublishOptions) (string, error) {
	g, done, err := w.index(ctx, r)
	if err != nil {
		return "", err
	}
	defer done()
	tree := o.Trees[r.Name]
	here, err := g.resolve(ctx, tree+"^{tree}")
	if err != nil {
		return "", err
	}
	if here == "" { // it was not captured on this machine: it must equal the current files
		now, err := g.run(ctx, "write-tree")
		if err != nil {
			return "", err
		}
		if tree != "" && tree != now {
			return "", &DamagedError{r.Name}
		}
		tree = now
	}
	if base, err := g.run(ctx, "rev-parse", baseRef+"^{tree}"); err != nil || base == tree && o.Earlier.Branch == "" {
		return "", err
	}
	date := o.Time.UTC().Format(time.RFC3339)
	g = g.with(
		"GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_AUTHOR_NAME="+author, "GIT_AUTHOR_EMAIL="+authorEmail,
		"GIT_COMMITTER_NAME="+author, "GIT_COMMITTER_EMAIL="+authorEmail,
	)
	commit, err := g.run(ctx, "commit-tree", tree, "-p", baseRef, "-m", o.Message)
	if err != nil {
		return "", err
	}
	_, err = g.run(ctx, "update-ref", branches+o.branch, commit)
	return commit, err
}

var address = lazy.Regexp(`https?://[^\s"'<>]+`)

func (w *Workspace) runFinalizer(
	ctx context.Context, r job.Repository, o PublishOptions, dir, command string,
) (url string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, VerifierTimeout, errTooLong)
	defer cancel()
	ended, err := process.Run(ctx, process.Command{
		Args: []string{"sh", "-c", command}, Dir: dir, Marker: o.Marker, OutputLimit: verifierOutput,
		Env: append(
			w.finalizerEnv(r), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory",
			"GIT_CONFIG_VALUE_0="+dir, "RINGBACK_REQUEST_ID="+o.RequestID, "RINGBACK_BRANCH="+o.branch,
			"RINGBACK_REPOSITORY="+r.Name, "RINGBACK_MESSAGE="+o.Message),
		Limits: o.Limits,
	})
	url = lastAddress(ended.Stdout)
	if err != nil {
		return url, fmt.Errorf("%s: %w", command, err)
	}
	if ended.Code != 0 {
		output := excerpt.Tail(redacted(strings.TrimSpace(ended.Stderr+"\n"+ended.Stdout)), 1000)
		return url, fmt.Errorf("%s ended with exit code %d: %s", command, ended.Code, strings.TrimSpace(output+"\n"+ended.Limit))
	}
	return url, nil
}

// lastAddress returns the last URL in a text, or "" if it has none. All of its characters are visible.
func lastAddress(text string) string {
	found := address().FindAllString(text, -1)
	if len(found) == 0 {
		return ""
	}
	shown, _, _ := literal.Address(strings.TrimRight(found[len(found)-1], ".,;)"))
	return shown
}
