package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
)

// BuildAt builds the server of an earlier commit and returns its path. It skips the test if that commit is not at
// hand, as in a shallow clone or an archive.
func BuildAt(t testing.TB, commit string) string {
	t.Helper()
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	top := strings.TrimSpace(string(root))
	if err != nil || exec.Command("git", "-C", top, "cat-file", "-e", commit+"^{commit}").Run() != nil {
		t.Skipf("the history has no commit %s to build: it takes a whole clone (git fetch --unshallow)", commit)
	}
	dir := t.TempDir()
	run := func(in string, words ...string) {
		t.Helper()
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = in
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
	}
	archive, source, built := filepath.Join(dir, "source.tar"), filepath.Join(dir, "source"), filepath.Join(dir, "ringback")
	run(top, "git", "archive", "--output="+archive, commit, "--", ".", ":!docs", ":!test")
	must.OK(t, os.Mkdir(source, 0o700))
	run(source, "tar", "--extract", "--file="+archive)
	run(source, "go", "build", "-o", built, "./cmd/ringback")
	return built
}
