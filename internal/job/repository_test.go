package job_test

import (
	"os/exec"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// A branch may have any name that git accepts for one, and no other.
func TestBranchesAreNamedAsGitNamesThem(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"main", "feature/AB#1992-x", "TICKET-123@add", "worktree-task+347", "a,b", "feat(example)-x", "dependabot/npm_and_yarn/@types/node-20",
		"fix/日本語", "a=b", "refs/heads/x", "#tag", "@", "a@", "a{b}", "a|b;c&d", "$(id)", "`id`", "'\"", "é", "a-", "a/-b", "!x", "%2e%2e", "x.lock.y", "lock", "a.b", "\u00a0", "\u0085",
		"-x", "--upload-pack=x", "HEAD", "HEADS", "HEAD/x", "a..b", "..", ".", ".a", "a/.b", "a.", "a/b.", "a.lock", "a.lock/b", ".lock", "a//b", "/a", "a/", "/", "a b", " ", "\t", "a\n", "a\x7f", "a\x01",
		"a~1", "a^", "a^{}", "a:b", "a?", "a*", "a[b", "a]b", `a\b`, "a@{1}", "@{u}", "@{-1}",
	} {
		_, fault := job.Repository{URL: "/r", Branch: name}.Fault()
		cmd := exec.Command("git", "check-ref-format", "--branch", name)
		cmd.Dir = t.TempDir()
		must.Equal(t, cmd.Run() == nil, fault == "", name, fault)
	}
	must.Equal(t, job.Repository{URL: "https://x/y", Branch: "feature/AB#1992-x"}, job.RepositoryOf("https://x/y#feature/AB#1992-x"))
}
