package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ringback/test/must"
)

// GitRepository creates a bare repository with one branch.
func GitRepository(t testing.TB, bare, branch string, files map[string]string) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	Git(t, "", "init", "--quiet", "--bare", "--initial-branch="+branch, bare)
	Git(t, "", "clone", "--quiet", bare, work)
	for file, text := range files {
		must.OK(t, os.WriteFile(filepath.Join(work, file), []byte(text), 0o600))
	}
	Git(t, work, "add", "--all")
	Git(t, work, "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "-m", "Begin")
	Git(t, work, "push", "--quiet", "origin", "HEAD:"+branch)
}

// Git runs git in a directory and returns its output.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
