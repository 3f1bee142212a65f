package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/internal/job"
	"ringback/internal/workspace"
	"ringback/test/must"
)

// Verifiers run in their order, on what was captured and nothing else. What they write is in no change.
func TestVerifiersWorkOnACopy(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{"a": "1\n", "run.sh": "true\n", "snapshot": "1\n", ".gitignore": "out/\n"}), repo(t, map[string]string{"b": "1\n"}))
	dir := filepath.Join(w.Dir(), "service")
	write(t, filepath.Join(dir, "a"), "2\n")
	write(t, filepath.Join(dir, "out", "of Claude's"), "ignored\n")
	must.OK(t, os.Remove(filepath.Join(dir, "run.sh")))
	must.OK(t, os.Symlink("a", filepath.Join(dir, "run.sh")))
	commit(t, filepath.Join(dir, "inner"), "x", "1\n")
	want, trees := capture(t, w)
	write(t, filepath.Join(dir, "a"), "written after the capture\n")
	for range 2 { // the second round has nothing of the first
		for _, got := range w.Verify(t.Context(), "test", workspace.VerifierRules{Trees: trees}, []job.Verifier{
			{Name: "makes", Command: "test ! -e out && mkdir out && echo ready >out/tool && echo c >coverage.xml && echo new >>snapshot && git config alias.x '!touch y'"},
			{Name: "uses", Command: "grep ready out/tool && grep new snapshot"},
			{Name: "sees the change", Command: `cd "$(git rev-parse --show-toplevel)"; test ! -e a || { grep -x 2 a && git diff --name-only | grep -x a && test -L run.sh && grep 1 inner/x; }`},
			{Name: "sees where it began", Command: "test $(git log --format=%s) = Begin && git branch --show-current | grep main"},
			{Name: "sees the others", Command: "test -e ../service/a && test -e ../service-2/b"},
			{Name: "is elsewhere", Command: "echo x >../service/z && echo x >../service-2/z && rm -rf .git && ! test -e ../tree"},
		}) {
			if got.Repository == "service" || got.Verifier == "service-2:makes" {
				must.Equal(t, true, got.Success, got.Verifier, got.Stdout, got.Stderr)
			}
		}
		write(t, filepath.Join(dir, "a"), "2\n")
		now, _ := capture(t, w)
		must.Equal(t, want, now)
		if _, err := os.Stat(filepath.Join(w.Dir(), "..", "verify")); !os.IsNotExist(err) {
			t.Error("the copies are still there")
		}
	}
}

// A copy that cannot be made fails the verifiers, with the reason.
func TestACopyThatCannotBeMade(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{"a": "1\n"}))
	got := w.Verify(t.Context(), "test", workspace.VerifierRules{Trees: workspace.Trees{"service": "0123456789012345678901234567890123456789"}}, []job.Verifier{{Name: "any", Command: "true"}})
	must.Equal(t, false, got[0].Success)
	must.Contain(t, got[0].Stderr, "copying the repository service: ")
}
