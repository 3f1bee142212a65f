package fault

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
)

// repositories are the remotes of changes. Their reflogs record each change of a branch.
type repositories struct {
	t    testing.TB
	bare []string
}

// fewRepositories is small enough that concurrent pushes sometimes use the same one.
const fewRepositories = 3

func newRepositories(t testing.TB) *repositories {
	t.Helper()
	r := &repositories{t: t}
	for i := range fewRepositories {
		dir := t.TempDir()
		bare, work := filepath.Join(dir, fmt.Sprint("repo", i, ".git")), filepath.Join(dir, "work")
		r.git("", "init", "--quiet", "--bare", "--initial-branch=main", bare)
		r.git("", "clone", "--quiet", bare, work)
		write(t, filepath.Join(work, "README"), "Begin.\n")
		r.git(work, "add", "--all")
		r.git(work, "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "-m", "Begin")
		r.git(work, "push", "--quiet", "origin", "HEAD:main")
		r.git(bare, "config", "core.logAllRefUpdates", "always")
		hook := filepath.Join(bare, "hooks", "pre-receive")
		must.OK(t, os.WriteFile(hook, []byte("#!/bin/sh\nsleep 0.3\n"), 0o700)) // so that faults happen during a push
		r.bare = append(r.bare, bare)
	}
	return r
}

func (r *repositories) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// of returns the repository of a client's change.
func (r *repositories) of(i int) string { return r.bare[i%len(r.bare)] }

// pushed is a branch as it was found in a repository.
type pushed struct {
	// commits is the number of commits beyond main; content is the content of the change;
	// moves is how often the branch was changed.
	commits, moves int
	content        string
}

// branches returns the pushed branches by job.
func (r *repositories) branches() map[string]pushed {
	found := map[string]pushed{}
	for _, bare := range r.bare {
		for ref := range strings.FieldsSeq(r.git(bare, "for-each-ref", "--format=%(refname)", "refs/heads/ringback/")) {
			p := pushed{content: r.git(bare, "show", ref+":change.txt")}
			_, _ = fmt.Sscan(r.git(bare, "rev-list", "--count", "main.."+ref), &p.commits)
			p.moves = len(strings.Fields(r.git(bare, "reflog", "show", "--format=%h", ref)))
			found[strings.TrimPrefix(ref, "refs/heads/ringback/")] = p
		}
	}
	return found
}
