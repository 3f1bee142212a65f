package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/sandbox/process"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
)

// branchOf returns the branch for the changes of a job in a repository: the one of an earlier attempt, or
// ringback/<id>. A remote with a branch named ringback can have none below it.
func (w *Workspace) branchOf(ctx context.Context, r job.Repository, o PublishOptions) (string, error) {
	if o.Earlier.Branch != "" {
		return o.Earlier.Branch, nil
	}
	taken, err := w.local(w.trustedRepo(r)).run(ctx, "for-each-ref", "--count=1", branches+"ringback")
	if strings.HasSuffix(taken, branches+"ringback") {
		return "ringback-" + o.RequestID, err
	}
	return "ringback/" + o.RequestID, err
}

// pushed returns the commits that the branch of an earlier attempt may be at: the one that it is known to have,
// and all with a push that was not confirmed.
func pushed(earlier job.Finalized) []string {
	switch {
	case len(earlier.Pushed) > 0:
		return slices.Clone(earlier.Pushed)
	case earlier.KnownPublic() != "":
		return []string{earlier.KnownPublic()}
	case earlier.Commit != "" && earlier.FinalizersDone == nil: // of an earlier version
		return []string{earlier.Commit}
	}
	return nil
}

// push makes sure that the job's branch has the commit. A push left by a dead server may still be running;
// if it succeeds, the result is the same.
func (w *Workspace) push(ctx context.Context, r job.Repository, o PublishOptions, done *job.Finalized) error {
	if err := w.root.resetConfig(ctx, w.trustedRepo(r)); err != nil {
		return err
	}
	g, address, err := w.root.connect(r, w.trustedRepo(r))
	if err != nil {
		return err
	}
	if g.path { // a push writes there, and hooks of that directory's owner may need more
		g.sandbox = process.Sandbox{}
	}
	err = repeat(ctx, publishFor, "Pushing "+r.Name, o.Report, pushRefused, func() error {
		return w.pushOver(ctx, g, address, r, o, done)
	})
	if err == nil {
		done.Pushed = nil
	}
	return err
}

// pushOver pushes the commit if the branch does not exist, or is at a commit of the job's. What others have
// pushed is never replaced: it stays if it is based on the commit, and is an error if not.
func (w *Workspace) pushOver(
	ctx context.Context, g git, address string, r job.Repository, o PublishOptions, done *job.Finalized,
) error {
	ref := branches + done.Branch
	text, err := g.run(ctx, "ls-remote", "--", address, ref)
	if err != nil {
		return err
	}
	there := ""
	for line := range strings.Lines(text) {
		if id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); name == ref {
			there = id
		}
	}
	switch {
	case there == done.Commit:
		done.Public = there
		return nil
	case there != "" && !slices.Contains(done.Pushed, there):
		return w.keepOthers(ctx, g, address, r, done)
	}
	done.Public = there
	if !slices.Contains(done.Pushed, done.Commit) {
		done.Pushed = append(done.Pushed, done.Commit)
	}
	if err := o.MayFunc(ctx, *done); err != nil {
		return err
	}
	_, err = g.run(
		ctx, "push", "--quiet", "--no-verify", "--force-with-lease="+ref+":"+there, "--", address, done.Commit+":"+ref,
	)
	switch {
	case err == nil:
		done.Public = done.Commit
	case ctx.Err() == nil && pushRefused(err):
		done.Pushed = slices.DeleteFunc(done.Pushed, func(commit string) bool { return commit == done.Commit })
	}
	return err
}

// othersRef is the tip of the job's branch at the remote, if others have pushed it.
const othersRef = "refs/ringback/others"

// keepOthers returns an error if the job's branch, to which others have pushed, does not contain the commit.
func (w *Workspace) keepOthers(ctx context.Context, g git, address string, r job.Repository, done *job.Finalized) error {
	if _, err := g.run(ctx, "fetch", "--quiet", "--no-tags", "--", address, "+"+branches+done.Branch+":"+othersRef); err != nil {
		return err
	}
	local := w.local(w.trustedRepo(r))
	text, err := local.run(ctx, "log", "-1", "--format=%h (author %an, committer %cn: %s)", othersRef)
	if err != nil {
		return err
	}
	tip := excerpt.Head(text, 200)
	_, err = local.run(ctx, "merge-base", "--is-ancestor", done.Commit, othersRef)
	if failed, ok := errors.AsType[*gitError](err); ok && failed.code == 1 {
		return fmt.Errorf(
			"others have pushed to the branch %s, which is at %s now. It was kept, and the change was not pushed: "+
				"rename or delete that branch there before you approve again", done.Branch, tip,
		)
	}
	if err == nil {
		done.Public = done.Commit
		done.Note = fmt.Sprintf("Others have added commits to the branch %s, which were kept. It is at %s now.", done.Branch, tip)
	}
	return err
}

// publishFor is the time for which publishing is retried before a person is asked.
const publishFor = 2 * time.Minute

// The delay between two attempts starts at firstDelay and doubles up to longestWait.
const (
	firstDelay  = 500 * time.Millisecond
	longestWait = 15 * time.Second
)

// RepeatOwn calls do until it succeeds, fails for another reason than this machine, or the time is up: what the
// machine lacks may be back in a moment.
func RepeatOwn(ctx context.Context, log *slog.Logger, most time.Duration, what string, do func() error) error {
	return repeat(ctx, most, what, func(failure string) { log.Warn(failure) }, func(err error) bool { return !isOwn(err) }, do)
}

// repeat calls do until it succeeds, is refused for good, or the time is up. report is called with each failure
// that is retried.
func repeat(
	ctx context.Context, most time.Duration, what string, report func(string), refused func(error) bool, do func() error,
) error {
	limit := time.Now().Add(most)
	for delay := firstDelay; ; delay = min(2*delay, longestWait) {
		err := do()
		if err == nil || ctx.Err() != nil || refused(err) || time.Now().Add(delay).After(limit) {
			return err
		}
		report(fmt.Sprintf("%s failed, trying again in %s: %v", what, delay, err))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(delay):
		}
	}
}

var (
	// inTheWay matches git's errors if another process writes the same branch at the same time, or
	// was killed while writing. A retry may succeed.
	inTheWay = lazy.Regexp(`(?i)cannot lock ref|unable to create .*\.lock|failed to update ref|another git process`)
	// noMeans matches git's errors that a retry does not resolve.
	noMeans = lazy.Regexp(`(?i)remote rejected|hook declined|protected branch|denied|authentication failed|could not read (username|password)|` +
		`invalid credentials|host key verification failed|returned error: 40[0-9]|not found|no such (file|remote|device)|does not appear to be a git repository|` +
		`unable to find remote helper|transport .* not allowed|not a git repository`)
)

// pushRefused reports whether retrying a push is useless.
func pushRefused(err error) bool {
	failed, ok := errors.AsType[*gitError](err)
	return !ok || !inTheWay().MatchString(failed.output) && noMeans().MatchString(failed.output)
}
