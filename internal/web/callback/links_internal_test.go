package callback

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"ringback/test/must"
)

func TestWhereLinksLead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := func(name, target string) {
		must.OK(t, os.Symlink(target, filepath.Join(root, name)))
	}
	must.OK(t, os.MkdirAll(filepath.Join(root, "docs", "deep"), 0o700))
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
	link("again", "out/..")
	link("beyond", "again/usr/../etc")
	link("proc", "/proc/self/cwd")
	for path, want := range map[string]string{
		"docs/a": root + "/docs/a", "in/a": root + "/docs/a", "out/passwd": "/etc/passwd", "chain/passwd": "/etc/passwd", "whole/a": root + "/docs/a",
		"docs/back": root + "/secret", "in/back": root + "/secret", "gone/a": root + "/nothing/there/a", "loop": "", "one/a": "", ".": root,
		"up/a": filepath.Join(filepath.Dir(filepath.Dir(root)), "x/a"), "docs/../in/deep/new": root + "/docs/deep/new",
		"again/etc/x": "/etc/x", "beyond/x": "/etc/x", "proc/x": "", "new/../../../x": filepath.Join(filepath.Dir(filepath.Dir(root)), "x"),
	} {
		got, ok := resolveIn(root)(filepath.Join(root, path))
		if got != want || ok != (want != "") {
			t.Errorf("%s leads to %q %t, want %q", path, got, ok, want)
		}
	}
	if os.Getuid() != 0 { // root can read everything; the attack tests run as other users, too
		must.OK(t, os.Chmod(filepath.Join(root, "docs"), 0))
		if got, ok := resolveIn(root)(filepath.Join(root, "docs/back")); ok {
			t.Errorf("what cannot be looked at leads to %q", got)
		}
		must.OK(t, os.Chmod(filepath.Join(root, "docs"), 0o700))
	}
	if got, ok := resolveIn(root)("/out/a"); got != "/out/a" || !ok {
		t.Errorf("what lies outside leads to %q %t", got, ok)
	}
	if _, ok := resolveIn(root + "/nowhere")(root + "/nowhere/a"); ok {
		t.Error("a directory that is not on this machine was looked at")
	}
}

// Whenever the system itself opens or creates a file by a path, the walk leads to the
// same file.
func TestLinksLeadWhereTheSystemGoes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("where a file was opened is read from /proc")
	}
	deep := strings.Repeat("/deep", 40) // so deep that no ".." leaves it
	root, outside := t.TempDir()+deep, t.TempDir()+deep
	for _, dir := range []string{root, outside} {
		must.OK(t, os.MkdirAll(dir, 0o700))
	}
	random := rand.New(rand.NewPCG(1, 2))
	oneOf := func(all ...string) string { return all[random.IntN(len(all))] }
	path := func(names int) string {
		var found []string
		for range 1 + random.IntN(names) {
			found = append(found, oneOf("a", "b", "c", "d", "l0", "l1", "l2", "l3", "l4", "l5", "..", ".", "", "new"))
		}
		return strings.Join(found, "/")
	}
	compared := 0
	for n := range 40 {
		dir := filepath.Join(root, strconv.Itoa(n))
		for _, name := range []string{"a/b/c", "b/c", "c/a/d"} {
			must.OK(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		}
		for n := range 6 {
			target := oneOf("./"+path(4), "./"+path(4), outside, dir+"/"+path(3), outside+"/../"+filepath.Base(outside))
			at := filepath.Join(dir, oneOf("", "a", "b", "a/b"), "l"+strconv.Itoa(n))
			must.OK(t, os.Symlink(target, at))
		}
		for range 40 {
			asked := dir + "/" + path(6) + "/file"
			f, err := os.OpenFile(asked, os.O_CREATE|os.O_RDWR, 0o600)
			if err != nil {
				continue // the path does not exist, and cannot be created
			}
			want, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
			_ = f.Close()
			must.OK(t, err)
			_ = os.Remove(want) // so that it does not exist yet
			if got, ok := resolveIn(dir)(asked); !ok || got != want {
				t.Errorf("%s leads to %q %t, want %q", asked, got, ok, want)
			}
			compared++
		}
	}
	if compared < 100 {
		t.Errorf("only %d paths were compared", compared)
	}
}
