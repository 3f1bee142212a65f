package callback

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhereLinksLead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := func(name, target string) {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "docs", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	link("in", "docs")
	link("out", "/etc")
	link("up", "../../x")
	link("chain", "out")
	link("whole", root+"/docs")
	link("docs/back", "../secret")
	link("loop", "loop")
	link("one", "two")
	link("two", "one")
	link("gone", "nothing/there")
	for path, want := range map[string]string{
		"docs/a": root + "/docs/a", "in/a": root + "/docs/a", "out/passwd": "/etc/passwd", "chain/passwd": "/etc/passwd", "whole/a": root + "/docs/a",
		"docs/back": root + "/secret", "in/back": root + "/secret", "gone/a": root + "/nothing/there/a", "loop": "", "one/a": "", ".": root,
		"up/a": filepath.Join(filepath.Dir(filepath.Dir(root)), "x/a"), "docs/../in/deep/new": root + "/docs/deep/new",
	} {
		got, ok := resolveIn(root)(filepath.Join(root, path))
		if got != want || ok != (want != "") {
			t.Errorf("%s leads to %q %t, want %q", path, got, ok, want)
		}
	}
	if os.Getuid() != 0 { // root looks into everything; the attack tests are run as others, too
		if err := os.Chmod(filepath.Join(root, "docs"), 0); err != nil {
			t.Fatal(err)
		}
		if got, ok := resolveIn(root)(filepath.Join(root, "docs/back")); ok {
			t.Errorf("what cannot be looked at leads to %q", got)
		}
		if err := os.Chmod(filepath.Join(root, "docs"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := resolveIn(root)("/out/a"); got != "/out/a" || !ok {
		t.Errorf("what lies outside leads to %q %t", got, ok)
	}
	if _, ok := resolveIn(root + "/nowhere")(root + "/nowhere/a"); ok {
		t.Error("a directory that is not on this machine was looked at")
	}
}
