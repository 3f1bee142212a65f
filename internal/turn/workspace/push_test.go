package workspace_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
	"ringback/test/sample"
)

// rounds publishes one job's rounds in one repository, as a server that records what it began.
type rounds struct {
	t        *testing.T
	w        *workspace.Workspace
	recorded job.Finalized
	// may is called before each step; nil for nothing.
	may func() error
}

var errDies = errors.New("the server dies")

// publish publishes a round in which the file a has a text.
func (p *rounds) publish(text string) job.Finalized {
	p.t.Helper()
	write(p.t, filepath.Join(p.w.Dir(), "service", "a"), text+"\n")
	_, trees := capture(p.t, p.w)
	done := published(p.t, p.w, workspace.PublishOptions{
		RequestID: "req_1", Trees: trees, Message: "Round " + text, Time: time.Unix(1_700_000_000, 0), Earlier: p.recorded, Report: ignore,
		MayFunc: func(_ context.Context, begun job.Finalized) error {
			p.recorded, p.recorded.Error = begun, "It was interrupted."
			if p.may == nil {
				return nil
			}
			return p.may()
		},
	})[0]
	if !strings.Contains(done.Error, errDies.Error()) {
		p.recorded = done
	}
	return done
}

// A branch that others have changed is never replaced, for each transport, in a new mirror and in one of an
// earlier job. each is what is on the branch in the end, from its tip on.
func TestOnlyWhatWasPushedIsReplaced(t *testing.T) {
	t.Parallel()
	const branch = "ringback/req_1"
	for name, c := range sample.Cases(t, 3, map[string]struct {
		// rounds publishes; git runs in a clone of the remote, bare.
		rounds func(p *rounds, bare string, git func(...string) string) job.Finalized
		each   string
		says   string // in the error, or in the note
		failed bool
	}{
		"nobody else was there": {func(p *rounds, _ string, _ func(...string) string) job.Finalized {
			p.publish("1")
			return p.publish("2")
		}, "Round 2", "", false},
		"a branch of others has the name": {func(p *rounds, _ string, git func(...string) string) job.Finalized {
			amended(git, "theirs")
			git("push", "-q", "origin", "HEAD:"+branch)
			return p.publish("1")
		}, "Change to theirs", "committer Colleague: Change to theirs)", true},
		"others have added to it": {func(p *rounds, _ string, git func(...string) string) job.Finalized {
			p.publish("1")
			add(git, branch)
			return again(p, "1")
		}, "Change to theirs|Round 1", "Others have added commits to the branch ringback/req_1, which were kept. It is at ", false},
		"others have added to it, and there is another round": {func(p *rounds, _ string, git func(...string) string) job.Finalized {
			p.publish("1")
			add(git, branch)
			return p.publish("2")
		}, "Change to theirs|Round 1", "rename or delete that branch there", true},
		"others have added to it, another round was refused, and they deleted it": {func(p *rounds, _ string, git func(...string) string) job.Finalized {
			p.publish("1")
			add(git, branch)
			p.publish("2")
			git("push", "-q", "origin", ":"+branch)
			return p.publish("2")
		}, "Round 2", "", false},
		"others have rewritten it": {func(p *rounds, _ string, git func(...string) string) job.Finalized {
			p.publish("1")
			git("fetch", "-q", "origin", branch)
			git("checkout", "-q", "FETCH_HEAD")
			git("commit", "-q", "--amend", "-m", "In better words")
			git("push", "-qf", "origin", "HEAD:"+branch)
			return again(p, "1")
		}, "In better words", "(author Ringback, committer Colleague: ", true},
		"others have taken it back": {func(p *rounds, _ string, git func(...string) string) job.Finalized {
			p.publish("1")
			git("push", "-qf", "origin", "main:"+branch)
			return p.publish("2")
		}, "", "committer Test: Begin)", true},
		"others have put an earlier round back": {func(p *rounds, bare string, git func(...string) string) job.Finalized {
			first := p.publish("1").Commit
			p.publish("2")
			run(t, bare, "git", "update-ref", "refs/heads/"+branch, first)
			return p.publish("3")
		}, "Round 1", "committer Ringback: Round 1)", true},
		"others have deleted it": {func(p *rounds, _ string, git func(...string) string) job.Finalized {
			p.publish("1")
			git("push", "-q", "origin", ":"+branch)
			return p.publish("2")
		}, "Round 2", "", false},
		"the server died before the push": {func(p *rounds, _ string, _ func(...string) string) job.Finalized {
			p.may = func() error { return errDies }
			p.publish("1")
			p.may = nil
			return p.publish("2")
		}, "Round 2", "", false},
		"the server died twice, once after a push": {func(p *rounds, bare string, _ func(...string) string) job.Finalized {
			p.publish("1")
			p.recorded.Error, p.recorded.Pushed = "It was interrupted.", []string{p.recorded.Commit}
			p.may = func() error { return errDies }
			p.publish("2")
			p.may = nil
			return p.publish("3")
		}, "Round 3", "", false},
		"the connection broke after the push, and others were faster than the next attempt": {func(p *rounds, bare string, _ func(...string) string) job.Finalized {
			executable(t, filepath.Join(bare, "hooks", "post-receive"), `#!/bin/sh
export GIT_AUTHOR_NAME=Colleague GIT_AUTHOR_EMAIL=c@example.com GIT_COMMITTER_NAME=Colleague GIT_COMMITTER_EMAIL=c@example.com
read old new ref; test -e broken && exit; touch broken
git update-ref $ref $(git commit-tree -p $new -m 'Change to theirs' $new^{tree}); kill -9 $PPID
`)
			return p.publish("1")
		}, "Change to theirs|Round 1", "which were kept", false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, how := range []string{"file", "https", "ssh"} {
				bare := repo(t, map[string]string{"a": "0\n"})
				run(t, bare, "git", "config", "http.receivepack", "true")
				url, environ := transports(t, bare)[how]()
				root := workspace.Root{Dir: t.TempDir(), Environ: environ}
				_, err := begun(t, root, job.Repository{URL: url})
				must.OK(t, err)
				w, err := begun(t, root, job.Repository{URL: url})
				must.OK(t, err)
				done := c.rounds(&rounds{t: t, w: w}, bare, clones(t, bare))
				must.Equal(t, c.failed, done.Error != "", how, done.Error)
				must.Contain(t, done.Error+done.Note, c.says, how)
				each := strings.TrimSpace(run(t, bare, "git", "log", "--format=%s", "main.."+branch))
				must.Equal(t, c.each, strings.ReplaceAll(each, "\n", "|"), how)
			}
		})
	}
}

// add has a colleague commit to a branch.
func add(git func(...string) string, branch string) {
	git("fetch", "-q", "origin", branch)
	git("checkout", "-q", "FETCH_HEAD")
	amended(git, "theirs")
	git("push", "-q", "origin", "HEAD:"+branch)
}

// again publishes the recorded round once more, as after a failed finalizer.
func again(p *rounds, text string) job.Finalized {
	p.recorded.Error = "a finalizer failed"
	return p.publish(text)
}

// A commit that the remote has already is not pushed again.
func TestWhatIsThereIsNotPushed(t *testing.T) {
	t.Parallel()
	bare := repo(t, map[string]string{"a": "0\n"})
	p := &rounds{t: t, w: open(t, bare)}
	must.Equal(t, "", p.publish("1").Error)
	executable(t, filepath.Join(bare, "hooks", "pre-receive"), "#!/bin/sh\nexit 1\n")
	must.Equal(t, "", again(p, "1").Error)
}

// A remote with a branch ringback can have none below it: the change goes to another one.
func TestABranchThatIsInTheWay(t *testing.T) {
	t.Parallel()
	bare := repo(t, map[string]string{"a": "0\n"})
	run(t, bare, "git", "branch", "ringback", "main")
	p := &rounds{t: t, w: open(t, bare)}
	done := p.publish("1")
	must.Equal(t, "", done.Error)
	must.Equal(t, "ringback-req_1", done.Branch)
	must.Equal(t, "ringback-req_1", p.publish("2").Branch)
	must.Equal(t, "Round 2\n", run(t, bare, "git", "log", "--format=%s", "main..ringback-req_1"))
}
