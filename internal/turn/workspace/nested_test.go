package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/test/must"
)

// commit creates a repository with one file.
func commit(t *testing.T, dir, name, text string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		run(t, "", "git", "init", "--quiet", dir)
	}
	write(t, filepath.Join(dir, name), text)
	run(t, dir, "git", "add", name)
	run(t, dir, "git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", name)
}

// Nested repositories move with their repository: with or without commits, including links. A
// submodule whose git directory is elsewhere keeps its commit. Later changes are captured on top.
func TestRepositoriesWithinMove(t *testing.T) {
	t.Parallel()
	library := filepath.Join(t.TempDir(), "library")
	commit(t, library, "lib", "1\n")
	url := repo(t, map[string]string{"a": "a\n"})
	first := open(t, url)
	dir := filepath.Join(first.Dir(), "service")
	commit(t, filepath.Join(dir, "deep", "inner"), "x", "x\n")
	write(t, filepath.Join(dir, "deep", "inner", "not committed"), "y\n")
	must.OK(t, os.Symlink("/etc/passwd", filepath.Join(dir, "deep", "inner", "away")))
	must.OK(t, os.Chmod(filepath.Join(dir, "deep", "inner", "x"), 0o755))
	run(t, "", "git", "init", "--quiet", filepath.Join(dir, "unborn"))
	write(t, filepath.Join(dir, "unborn", "z"), "z\n")
	run(t, dir, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "sub")
	commit(t, filepath.Join(dir, "sub"), "lib", "2\n")
	must.OK(t, os.Remove(filepath.Join(dir, "a")))

	want, trees := capture(t, first)
	snapshot, err := first.Snapshot(t.Context(), trees)
	if err != nil || snapshot == nil {
		t.Fatalf("nothing was kept: %v", err)
	}
	second := open(t, url)
	must.OK(t, second.Restore(t.Context(), snapshot))
	got, movedTrees := capture(t, second)
	must.Equal(t, want, got)
	must.Equal(t, trees, movedTrees)
	there := filepath.Join(second.Dir(), "service")
	for file, want := range map[string]string{"deep/inner/x": "x\n", "deep/inner/not committed": "y\n", "unborn/z": "z\n"} {
		if text, err := os.ReadFile(filepath.Join(there, file)); err != nil || string(text) != want {
			t.Errorf("%s holds %q: %v", file, text, err)
		}
	}
	if target, err := os.Readlink(filepath.Join(there, "deep", "inner", "away")); err != nil || target != "/etc/passwd" {
		t.Errorf("the link leads to %q: %v", target, err)
	}
	must.Contain(t, run(t, filepath.Join(there, "deep", "inner"), "git", "status", "--short"), "not committed", "the repository within")

	write(t, filepath.Join(there, "later"), "later\n")
	commit(t, filepath.Join(there, "deep", "inner"), "x", "more\n")
	after := diff(t, second, 0)
	paths := map[string]bool{}
	for _, f := range after.Files {
		paths[f.Path] = true
	}
	if !paths["later"] || !paths["sub"] || !paths["deep/inner"] || !paths["a"] {
		t.Errorf("the next capture holds %v", paths)
	}
	must.Equal(t, 1, len(after.LeftOut), "left out", after.LeftOut)
}

// Restore fails for a snapshot that was tampered with or belongs to another capture.
func TestRestoreRefusesWhatWasNotCaptured(t *testing.T) {
	t.Parallel()
	url := repo(t, map[string]string{"a": "a\n"})
	first := open(t, url)
	write(t, filepath.Join(first.Dir(), "service", "b"), "b\n")
	_, trees := capture(t, first)
	snapshot := must.Get(first.Snapshot(t.Context(), trees))(t)
	write(t, filepath.Join(first.Dir(), "service", "b"), "c\n")
	_, trees = capture(t, first)
	snapshot[0].Tree = trees["service"]
	second := open(t, url)
	must.Fail(t, second.Restore(t.Context(), snapshot), "not what was captured")
}
