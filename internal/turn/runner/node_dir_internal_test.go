package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

func take(t *testing.T, dir string) *nodeDir {
	t.Helper()
	return must.Get(lockNodeDir(dir))(t)
}

func TestServersShareADataDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := take(t, dir), take(t, dir)
	if first.node == second.node || first.dir == second.dir {
		t.Errorf("both are %s in %s", first.node, first.dir)
	}
	first.release()
	must.Equal(t, first.node, take(t, dir).node, "the first one when it starts again")
	if third := take(t, dir); third.node == first.node || third.node == second.node {
		t.Errorf("a third one takes the place of %s", third.node)
	}
	second.release()
	must.Equal(t, second.node, take(t, dir).node, "the second one when it starts again")
}

func TestANodeWhoseNameWasCutShortGetsAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := take(t, dir)
	n.release()
	must.OK(t, os.WriteFile(filepath.Join(n.dir, "node"), nil, 0o600))
	if again := take(t, dir); !strings.HasPrefix(again.node, "node_") || again.node == n.node {
		t.Errorf("it is called %q", again.node)
	}
}

func TestADirectoryThatCannotBeUsedIsSaid(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	if _, err := lockNodeDir(file); err == nil || !strings.HasPrefix(err.Error(), "DATA_DIR cannot be used: ") {
		t.Errorf("the error is %v", err)
	}
}

func TestFilesAreFoundByTheNodeThatHasThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := take(t, dir)
	id := job.ID("req_1")
	must.OK(t, os.MkdirAll(n.workDir(id), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(n.workDir(id), "notes.txt"), []byte("x"), 0o600))
	found, ok := Files(dir, n.node, id)
	if list, _, err := found.List(); !ok || err != nil || len(list) != 1 || list[0].Path != "notes.txt" {
		t.Errorf("found %+v, %v, %v", list, ok, err)
	}
	for name, where := range map[string]struct{ dir, node string }{
		"another node":      {dir, "node_x"},
		"no node":           {dir, ""},
		"another directory": {t.TempDir(), n.node},
	} {
		if _, ok := Files(where.dir, where.node, id); ok {
			t.Errorf("%s has them, too", name)
		}
	}
}
