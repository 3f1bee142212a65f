package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"ringback/test/harness"
	"ringback/test/must"
)

// hostileHistory creates a bare repository whose commit messages are the corpus and whose branches are
// named like the fragments, as far as git allows. A hook refuses each push with a forged report.
func hostileHistory(t testing.TB) (bare string, branches []string) {
	t.Helper()
	bare = filepath.Join(t.TempDir(), "service.git")
	harness.Git(t, "", "init", "--quiet", "--bare", "--initial-branch=main", bare)
	var history bytes.Buffer
	for _, text := range corpus() {
		text = strings.ReplaceAll(text, "\x00", "")
		fmt.Fprintf(&history, "commit refs/heads/main\ncommitter T <t@a.example> 0 +0000\ndata %d\n%s\nM 100644 inline a\ndata 2\na\n", len(text), text)
	}
	for _, name := range fragments {
		name = "x" + strings.NewReplacer(" ", "\u00a0", "\n", "", "..", "", "/", "∕", "@{", "").Replace(name) + "y"
		if !strings.ContainsAny(name, "\x00\x7f~^:?*[\\") && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) && len(name) < 100 {
			branches = append(branches, name)
			fmt.Fprintf(&history, "reset refs/heads/%s\nfrom refs/heads/main\n\n", name)
		}
	}
	imports := exec.Command("git", "-C", bare, "fast-import", "--quiet", "--date-format=raw")
	imports.Stdin = &history
	if out, err := imports.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	must.OK(t, os.WriteFile(filepath.Join(bare, "forged"), []byte(forgedReport), 0o600))
	harness.WriteProgram(t, filepath.Join(bare, "hooks", "pre-receive"), []byte("#!/bin/sh\ncat "+bare+"/forged >&2\nexit 1\n"))
	return bare, branches
}

// shows reports whether a person who is shown one text sees the other: each character is the same,
// or replaced because it is not visible.
func shows(shown, text string) bool {
	is, want := []rune(shown), []rune(strings.ReplaceAll(text, "\r\n", "\n"))
	return slices.EqualFunc(is, want, func(is, want rune) bool { return is == want || is == unicode.ReplacementChar }) && !strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(shown), steers)
}

// Whatever branches and commit messages of a repository are, and whatever it answers to a push, people see
// it as it is where they decide, and cannot mistake it for anyone else's words.
func TestBranchesAndCommitMessagesAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	bare, branches := hostileHistory(t)
	id := create(t, s, harness.Object{"kind": "code-change", "userId": "u1", "input": harness.Object{
		"prompt": "x", "require_approval": true, "repos": []any{harness.Object{"url": bare}},
		"verifiers": []any{
			harness.Object{"name": "commits", "command": "git log --reverse --format=%B; false"},
			harness.Object{"name": "branches", "command": "git for-each-ref --format='%(refname:lstrip=3)' refs/remotes"},
		},
	}})
	harness.Eventually(t, "the review", func() bool { return record(t, s, id)["status"] == "awaiting_approval" })
	var logs []struct{ Verifier, Stdout string }
	if err := json.Unmarshal([]byte(harness.Text(t, s.URL+"/api/jobs/"+id+"/logs")), &logs); err != nil || len(logs) != 2 {
		t.Fatalf("the logs are %v: %v", logs, err)
	}
	for i, want := range []string{harness.Git(t, bare, "log", "--reverse", "--format=%B", "main"), "main\n"} {
		if got := logs[i].Stdout; !strings.Contains(got, want) {
			t.Errorf("%s: the logs are not what git printed: %s", logs[i].Verifier, cmp.Diff(want, got))
		}
	}
	for _, name := range branches {
		must.Contain(t, logs[1].Stdout, name+"\n", "the branch", name, "is not in the logs")
	}
	b := open(t, s, "/jobs/"+id+"/review")
	var checks []string
	script := `JSON.stringify([...document.querySelectorAll("#logs pre")].map(one => (one.closest("details").open = true, one.textContent)))`
	if err := json.Unmarshal([]byte(b.value(script)), &checks); err != nil || len(checks) != 2 {
		t.Fatalf("the checks are %q: %v", checks, err)
	}
	for i, shown := range checks {
		if !shows(shown, logs[i].Stdout) {
			t.Errorf("%s: the page shows %s", logs[i].Verifier, cmp.Diff(logs[i].Stdout, shown))
		}
	}
	must.Equal(t, "", b.value(`[...document.querySelectorAll("#logs pre *")].map(one => one.outerHTML).join()`), "elements that the page has not made")
	for row := range strings.SplitSeq(onTerminal(t, s, 71, "logs", id), "\n") {
		row = strings.TrimRight(row, " ")
		if strings.ContainsFunc(row, steers) || row != "" && row != lastRow && !strings.HasPrefix(row, "  ") && row != "[FAIL] service:commits (exit code: 1)" && row != "[PASS] service:branches (exit code: 0)" && !strings.HasPrefix(row, "Turn 1") {
			t.Errorf("ringback logs has the row %q", row)
		}
	}

	approve(t, s, id, nil)
	harness.Eventually(t, "the push to be refused", func() bool {
		asked, _ := record(t, s, id)["checkpoint"].(harness.Object)
		return strings.Contains(fmt.Sprint(asked["message"]), "could not be published")
	})
	for _, place := range []string{"/jobs/" + id + "/review", "/inbox/" + questionOf(t, s, id), "/inbox", "/jobs/" + id, "/jobs"} {
		b.visit(place)
		b.sees("could not be published")
		must.Equal(t, "", b.value(wordsOfOthers), "on", place, "words of others are")
		b.mustNot(`document.body.innerText.includes("Claude: git")`, "on %s, an answer of the repository is Claude's", place)
	}
}
