package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
	"ringback/test/sample"
)

// clones returns a clone of a remote, and a function that runs git there.
func clones(t *testing.T, bare string) func(args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	run(t, "", "git", "clone", "--quiet", bare, dir)
	return func(args ...string) string {
		t.Helper()
		return run(t, dir, "git", append([]string{"-c", "user.name=Colleague", "-c", "user.email=c@example.com"}, args...)...)
	}
}

// A job begins where its remote is now, for each transport: in a new mirror, in one that has seen the remote
// as it was before, and again in that.
func TestAJobBeginsWhereItsRemoteIsNow(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 3, map[string]struct {
		// change changes the remote, at bare, by git in a clone of it.
		change func(bare string, git func(...string) string)
		branch string
		// want is the content of the file a, and on the branch that is checked out; or a part of the error.
		want, on, says string
	}{
		"the default branch was renamed, and the old one is gone": {func(bare string, git func(...string) string) {
			git("push", "-q", "origin", "HEAD:trunk")
			run(t, bare, "git", "symbolic-ref", "HEAD", "refs/heads/trunk")
			git("push", "-q", "origin", ":main")
		}, "", "1", "trunk", ""},
		"another branch is the default, and the old one stays": {func(bare string, git func(...string) string) {
			git("checkout", "-q", "-b", "trunk")
			amended(git, "2")
			git("push", "-q", "origin", "HEAD:trunk")
			run(t, bare, "git", "symbolic-ref", "HEAD", "refs/heads/trunk")
		}, "", "2", "trunk", ""},
		"HEAD is a commit that is on no branch": {func(bare string, git func(...string) string) {
			amended(git, "2")
			git("push", "-q", "origin", "HEAD:aside")
			commit := strings.TrimSpace(git("rev-parse", "HEAD"))
			run(t, bare, "git", "update-ref", "--no-deref", "HEAD", commit)
			run(t, bare, "git", "update-ref", "-d", "refs/heads/aside")
		}, "", "2", "", ""},
		"HEAD leads nowhere, and a branch is named like HEAD": {func(bare string, git func(...string) string) {
			git("push", "-q", "origin", "HEAD:refs/heads/HEAD")
			run(t, bare, "git", "symbolic-ref", "HEAD", "refs/heads/gone")
		}, "", "", "", "its default branch does not exist"},
		"HEAD leads nowhere, but a branch is named": {func(bare string, _ func(...string) string) {
			run(t, bare, "git", "symbolic-ref", "HEAD", "refs/heads/gone")
		}, "main", "1", "main", ""},
		"all branches are gone": {func(bare string, _ func(...string) string) {
			run(t, bare, "git", "update-ref", "-d", "refs/heads/main")
		}, "", "", "", "it is empty"},
		"the named branch is gone": {func(bare string, git func(...string) string) {
			git("push", "-q", "origin", "HEAD:feature/other")
		}, "feature", "", "", "no branch or tag named feature: name another one; its branches are feature/other, main"},
		"a name that git would take for a commit": {func(_ string, git func(...string) string) {}, "v1-1-gCOMMIT", "", "", "no branch or tag named v1-1-g"},
		"a tag":                                  {func(_ string, git func(...string) string) { tagged(git, "v1") }, "v1", "2", "", ""},
		"a tag, by its full name":                {func(_ string, git func(...string) string) { tagged(git, "v1") }, "refs/tags/v1", "2", "", ""},
		"a branch goes before a tag of its name": {func(_ string, git func(...string) string) { tagged(git, "main") }, "main", "1", "main", ""},
		"a branch, by its full name":             {func(_ string, git func(...string) string) {}, "refs/heads/main", "1", "main", ""},
		"a branch that is named like a full name": {func(_ string, git func(...string) string) {
			amended(git, "2")
			git("push", "-q", "origin", "HEAD:refs/heads/refs/heads/main")
		}, "refs/heads/main", "2", "refs/heads/main", ""},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bare := repo(t, map[string]string{"a": "1\n"})
			ways := transports(t, bare)
			roots := map[string]workspace.Root{}
			urls := map[string]string{}
			for how, reach := range ways {
				url, environ := reach()
				urls[how], roots[how] = url, workspace.Root{Dir: t.TempDir(), Environ: environ}
				_, err := begun(t, roots[how], job.Repository{URL: url})
				must.OK(t, err)
			}
			git := clones(t, bare)
			branch := strings.ReplaceAll(c.branch, "COMMIT", strings.TrimSpace(git("rev-parse", "--short", "HEAD")))
			c.change(bare, git)
			for how, root := range roots {
				again := []workspace.Root{root, root}
				if how == "file" {
					again = append(again, workspace.Root{Dir: t.TempDir(), Environ: root.Environ})
				}
				for _, root := range again {
					w, err := begun(t, root, job.Repository{URL: urls[how], Branch: branch})
					if _, ok := errors.AsType[*workspace.Unusable](err); c.says != "" {
						must.Equal(t, true, ok && strings.Contains(err.Error(), c.says), how, err)
						continue
					}
					must.OK(t, err)
					tree := filepath.Join(w.Dir(), "service")
					must.Equal(t, c.want+"\n", string(must.Get(os.ReadFile(filepath.Join(tree, "a")))(t)), how)
					must.Equal(t, c.on, strings.TrimSpace(run(t, tree, "git", "branch", "--show-current")), how)
					must.Equal(t, 0, len(diff(t, w, 0).Files), how, "changed files")
				}
			}
		})
	}
}

// amended commits another content of the file a.
func amended(git func(...string) string, text string) {
	dir := strings.TrimSpace(git("rev-parse", "--show-toplevel"))
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(text+"\n"), 0o600); err != nil {
		panic(err)
	}
	git("commit", "-qam", "Change to "+text)
}

// tagged pushes an annotated tag of a commit that is on no branch.
func tagged(git func(...string) string, name string) {
	amended(git, "2")
	git("tag", "-a", "-m", "x", name)
	git("push", "-q", "origin", "refs/tags/"+name)
}

// A job without a branch that names a directory begins at what is checked out there.
func TestAPathBeginsAtWhatIsCheckedOut(t *testing.T) {
	t.Parallel()
	git := clones(t, repo(t, map[string]string{"a": "1\n"}))
	dir := strings.TrimSpace(git("rev-parse", "--show-toplevel"))
	root := workspace.Root{Dir: t.TempDir(), Environ: os.Environ()}
	for _, step := range []struct {
		args     []string
		want, on string
	}{
		{[]string{"branch", "x"}, "1\n", "main\n"},
		{[]string{"checkout", "-q", "-b", "feature/#1"}, "feature\n", "feature/#1\n"},
		{[]string{"checkout", "-q", "--detach"}, "feature, detached\n", ""},
		{[]string{"checkout", "-q", "main"}, "1\n", "main\n"},
	} {
		git(step.args...)
		if strings.HasPrefix(step.want, "feature") {
			amended(git, strings.TrimSpace(step.want))
		}
		w, err := begun(t, root, job.Repository{URL: dir, Name: "service"})
		must.OK(t, err)
		tree := filepath.Join(w.Dir(), "service")
		must.Equal(t, step.want, string(must.Get(os.ReadFile(filepath.Join(tree, "a")))(t)), step.args)
		must.Equal(t, step.on, run(t, tree, "git", "branch", "--show-current"), step.args)
	}
}
