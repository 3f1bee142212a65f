package callback

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
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

// A repository as git creates it is plain; anything that may make git run a program makes
// it not plain.
func TestWhichRepositoriesRunNothing(t *testing.T) {
	t.Parallel()
	write := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, name)
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
			f := must.Get(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
			must.Get(f.WriteString(text))(t)
			must.OK(t, f.Close())
		}
	}
	git := func(args ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v: %s", args, err, out)
			}
		}
	}
	instead := func(name string, put func(path string) error) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, name)
			must.OK(t, os.RemoveAll(path))
			must.OK(t, put(path))
		}
	}
	link := func(target string) func(path string) error {
		return func(path string) error { return os.Symlink(target, path) }
	}
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	for name, row := range map[string]struct {
		change func(t *testing.T, dir string)
		plain  bool
	}{
		"as git makes it":            {nil, true},
		"with a commit":              {git("commit", "-q", "--allow-empty", "-m", "x"), true},
		"with a remote":              {git("remote", "add", "origin", "https://example.com/a.git"), true},
		"with a user":                {git("config", "user.name", "A"), true},
		"with a monitor":             {git("config", "core.fsmonitor", "./evil"), false},
		"with a command for refs":    {git("config", "core.alternateRefsCommand", "./evil"), false},
		"with hooks elsewhere":       {git("config", "core.hooksPath", "evil"), false},
		"with an alias":              {git("config", "alias.status", "!evil"), false},
		"with a filter":              {git("config", "filter.x.clean", "./evil"), false},
		"with another configuration": {git("config", "include.path", "../evil"), false},
		"with an upload-pack":        {git("config", "remote.origin.uploadpack", "./evil"), false},
		"with a setting in a header": {write(".git/config", "[core] fsmonitor = ./evil\n"), false},
		"with a line that goes on":   {write(".git/config", "[user]\nname = a\\\n[core]\nfsmonitor = ./evil\n"), false},
		"with a hook":                {write(".git/hooks/post-index-change", "#!/bin/sh\n"), false},
		"of another one":             {write(".git/commondir", "../evil\n"), false},
		"with a submodule":           {git("update-index", "--add", "--cacheinfo", "160000,4b825dc642cb6eb9a060e54bf8d69288fbee4904,sub"), false},
		"with endless settings":      {instead(".git/config", link("/dev/zero")), false},
		"with settings elsewhere":    {instead(".git/config", link("HEAD")), false},
		"with settings in a pipe":    {instead(".git/config", pipe), false},
		"with an index in a pipe":    {instead(".git/index", pipe), false},
		"with hooks that are linked": {instead(".git/hooks", link("info")), false},
		"with a pipe as hooks":       {instead(".git/hooks", pipe), false},
		"without hooks":              {instead(".git/hooks", func(string) error { return nil }), true},
		"that is linked": {func(t *testing.T, dir string) {
			t.Helper()
			must.OK(t, os.Rename(dir+"/.git", dir+"/git"))
			must.OK(t, os.Symlink("git", dir+"/.git"))
		}, false},
		"that is a pipe":         {instead(".git", pipe), false},
		"with settings of 2 MiB": {write(".git/config", strings.Repeat("#\n", 1<<20)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			git("init", "-q")(t, root)
			if row.change != nil {
				row.change(t, root)
			}
			deep := filepath.Join(root, "a", "b")
			must.OK(t, os.MkdirAll(deep, 0o700))
			for _, dir := range []string{root, deep} {
				must.Equal(t, row.plain, plainRepository(root, dir), "from", dir)
			}
		})
	}
	t.Run("others", func(t *testing.T) {
		t.Parallel()
		root := t.TempDir()
		git("init", "-q", "--bare", "bare")(t, root)
		git("init", "-q", "work")(t, root)
		git("init", "-q", "work/elsewhere")(t, root)
		must.OK(t, os.Symlink("bare", filepath.Join(root, "link")))
		write("file/.git", "gitdir: ../work/.git\n")(t, root)
		for dir, want := range map[string]bool{"": false, "bare": false, "bare/refs": false, "work": true, "work/elsewhere": true, "file": false, "link": false, "link/refs": false, "..": false} {
			must.Equal(t, want, plainRepository(root, filepath.Join(root, dir)), "from", dir)
		}
	})
}
