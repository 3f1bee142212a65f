package callback

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringback/test/must"
)

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
