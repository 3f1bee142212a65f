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
)

// verified runs verifiers, and returns their outcomes.
func verified(t *testing.T, w *workspace.Workspace, rules workspace.VerifierRules, verifiers ...job.Verifier) []job.VerifierOutput {
	t.Helper()
	return must.Get(w.Verify(t.Context(), "test", rules, verifiers))(t)
}

// What runs at once shares no copy. What shares one runs in the order of the list, repository by repository.
func TestVerifiersShareNoCopyAtOnce(t *testing.T) {
	t.Parallel()
	named := must.Get(workspace.Named([]job.Repository{{URL: repo(t, map[string]string{"a": "1\n"})}, {URL: repo(t, map[string]string{"a": "1\n"})}}))(t)
	w := workspace.Root{Dir: t.TempDir(), Environ: os.Environ()}.Of("req_1", named) // no sandbox: the verifiers meet outside
	must.Get(w.Prepare(t.Context(), func(string) {}))(t)
	log := filepath.Join(t.TempDir(), "log")
	notes := `n=$(cat */made ../*/made 2>/dev/null | wc -l); echo x >made; echo "$(basename "$PWD") $n" >>` + log
	ok := func(rules workspace.VerifierRules, verifiers ...job.Verifier) string {
		_ = os.Remove(log)
		for _, got := range verified(t, w, rules, verifiers...) {
			must.Equal(t, true, got.Success, got.Verifier, got.Stdout, got.Stderr)
		}
		return string(must.Get(os.ReadFile(log))(t))
	}
	one, two := job.Verifier{Name: "one", Command: notes}, job.Verifier{Name: "two", Command: notes}
	must.Equal(t, "service 0\nservice 1\nservice-2 1\nservice-2 2\n", ok(workspace.VerifierRules{}, one, two))
	must.Equal(t, "service 0\nservice 1\nservice-2 1\nservice-2 2\n", ok(workspace.VerifierRules{AtOnce: 1}, one, two))

	gate := filepath.Join(t.TempDir(), "gate") // opens for two at once
	run(t, "", "mkfifo", gate)
	one.Command, two.Command = notes+"; echo >"+gate, notes+"; cat "+gate
	got := ok(workspace.VerifierRules{AtOnce: 2}, one, two)
	must.Equal(t, 2, strings.Count(got, "service 0\n"), got)
	must.Equal(t, 2, strings.Count(got, "service-2 0\n"), got)

	must.Equal(t, 0, len(verified(t, w, workspace.VerifierRules{AtOnce: 2})), "outcomes without verifiers")
	late := errors.New("another node has the turn")
	for _, n := range []int{1, 3} {
		_, err := w.Verify(t.Context(), "test", workspace.VerifierRules{AtOnce: n, ReadyFunc: func() error { return late }}, []job.Verifier{one})
		must.Equal(t, true, errors.Is(err, late), err)
	}
	must.Equal(t, got, string(must.Get(os.ReadFile(log))(t)), "nothing ran")
}

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
		for _, got := range verified(t, w, workspace.VerifierRules{Trees: trees}, []job.Verifier{
			{Name: "makes", Command: "test ! -e out && mkdir out && echo ready >out/tool && echo c >coverage.xml && echo new >>snapshot && git config alias.x '!touch y'"},
			{Name: "uses", Command: "grep ready out/tool && grep new snapshot"},
			{Name: "sees the change", Command: `cd "$(git rev-parse --show-toplevel)"; test ! -e a || { grep -x 2 a && git diff --name-only | grep -x a && test -L run.sh && grep 1 inner/x; }`},
			{Name: "sees where it began", Command: "test $(git log --format=%s) = Begin && git branch --show-current | grep main"},
			{Name: "sees the others", Command: "test -e ../service/a && test -e ../service-2/b"},
			{Name: "is elsewhere", Command: "echo x >../service/z && echo x >../service-2/z && rm -rf .git && ! test -e ../tree"},
		}...) {
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
	got := verified(t, w, workspace.VerifierRules{Trees: workspace.Trees{"service": "0123456789012345678901234567890123456789"}}, job.Verifier{Name: "any", Command: "true"})
	must.Equal(t, false, got[0].Success)
	must.Contain(t, got[0].Stderr, "copying the repository service: ")
}
