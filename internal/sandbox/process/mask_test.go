package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringback/internal/sandbox/process"
	"ringback/test/must"
)

// forbids are paths that may not be read, or written, by their suffix.
type forbids struct{ unreadable, unwritable []string }

func endsWithAny(path string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) })
}

func (f forbids) of() process.Forbidden {
	return process.Forbidden{
		Unreadable: func(path string) bool { return endsWithAny(path, f.unreadable) },
		Unwritable: func(path string) bool { return endsWithAny(path, f.unwritable) },
	}
}

// tree creates files in a directory, and a link for a name of the form "link -> target".
func tree(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte("secret of "+name), 0o600)
		}
		must.OK(t, err)
	}
}

// masksFor returns the masks of a sandbox, with their covers.
func masksFor(t testing.TB, dir string, f forbids, others ...string) process.Masks {
	t.Helper()
	masks, err := process.FindMasks(t.Context(), dir, others, f.of())
	must.OK(t, err)
	masks.Covers = must.Get(process.CoversIn(t.TempDir()))(t)
	return masks
}

// Forbidden files are not accessible, under any name, from any program, by any path.
func TestWhatIsForbiddenIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	tree(t, s.dir, ".env", "a/.env", "a/plain", "keys/one", "keys/deep/two", "plain", "config/app.yaml",
		"link -> .env", "far/link -> ../a/.env", "conf -> keys", "far/.env -> ../hidden-by-link", "hidden-by-link", "nowhere/.env -> missing", "system/.env -> /dev/null", "loop/.env -> .env")
	must.OK(t, os.Link(filepath.Join(s.dir, ".env"), filepath.Join(s.dir, "a", "hard")))
	access := process.Access{Writable: []string{s.dir}, Masks: masksFor(t, s.dir, forbids{[]string{"/.env", "/keys"}, []string{"/config"}})}
	run := func(script string) string {
		command := s.command(script)
		command.Access = access
		ended := must.Get(process.Run(t.Context(), command))(t)
		return ended.Stdout
	}
	for _, script := range []string{
		"cat .env", "cat .e*", "cat link far/link", "cat a/hard", "grep -r '' .", "tar cO .", "tar cO . | cat", "cat /proc/self/root" + s.dir + "/.env", "cat $PWD/./a/../.env", "dd if=.env", "cp .env x; cat x", "cat .env 2>&1 >/dev/null",
		"ln .env x1; cat x1", "ln -s .env x2; cat x2", "mv a b; cat b/.env b/hard; mv b a", "mv .env x3; cat x3", "chmod 777 .env; cat .env", "rm -f .env; cat .env", "while read l; do echo \"$l\"; done < .env",
		"cat keys/one keys/deep/two conf/one", "ls keys", "chmod 777 keys; cat keys/one", "mv keys x4; cat x4/one", "umount .env; cat .env", "unshare -rm sh -c 'umount .env; cat .env'",
		"cat far/.env hidden-by-link", "python3 -c 'print(open(\".env\").read())'", "cat /proc/1/cwd/.env", "cat /proc/[0-9]*/root" + s.dir + "/.env", "find . -type f -exec cat {} +", "sh -c 'exec 3<.env; cat <&3'",
	} {
		must.NotContain(t, strings.NewReplacer("secret of plain", "", "secret of a/plain", "", "secret of config/app.yaml", "").Replace(run(script)), "secret of", script)
	}
	for script, want := range map[string]string{
		"cat plain a/plain config/app.yaml":                             "secret of plainsecret of a/plainsecret of config/app.yaml",
		"echo own > new.env; mkdir -p n; echo own > n/.env; cat n/.env": "own\n",
		"for f in config/app.yaml config/new .env; do (echo x > $f) 2>/dev/null && echo written; done; mv config c2 2>/dev/null && echo moved; true": "",
		"echo x > /dev/null && echo fine": "fine\n",
	} {
		must.Equal(t, want, run(script), script)
	}
	for name, want := range map[string]string{".env": "secret of .env", "config/app.yaml": "secret of config/app.yaml", "keys/one": "secret of keys/one"} {
		if text, err := os.ReadFile(filepath.Join(s.dir, name)); err != nil || string(text) != want {
			t.Errorf("outside, %s holds %q: %v", name, text, err)
		}
	}
}

// What is denied in a directory that the sandbox hides, except for it, does not show the others there.
func TestADeniedEntryShowsNoOther(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	tree(t, s.hidden, "shown/a", "other")
	command := s.command("find " + s.hidden + " $HOME -type f | sort")
	command.Access.Readable = []string{filepath.Join(s.hidden, "shown")}
	command.Access.Masks = process.Masks{
		Unreadable: []string{filepath.Join(s.hidden, "shown"), filepath.Join(s.home, ".cargo", "bin")}, Covers: must.Get(process.CoversIn(t.TempDir()))(t),
	}
	ended := must.Get(process.Run(t.Context(), command))(t)
	must.Equal(t, filepath.Join(s.home, "tools", "own")+"\n", ended.Stdout)
}

func TestWhatCannotBeMaskedDoesNotStart(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 { // root can read everything
		dir := t.TempDir()
		tree(t, dir, "locked/.env")
		must.OK(t, os.Chmod(filepath.Join(dir, "locked"), 0))
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o700) })
		_, err := process.FindMasks(t.Context(), dir, nil, forbids{unreadable: []string{".env"}}.of())
		must.Fail(t, err, "cannot be looked for")
	}
	dir := t.TempDir()
	for n := range 251 {
		tree(t, dir, fmt.Sprintf("%d.key", n))
	}
	_, err := process.FindMasks(t.Context(), dir, nil, forbids{unreadable: []string{".key"}}.of())
	must.Fail(t, err, "more than 250 files")
}

// Paths that rules name through a link, or outside, are found; parts of the system are not.
func TestWhereForbiddenFilesAreLookedFor(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	tree(t, dir, "conf.d/a.key", "config -> conf.d")
	tree(t, other, "b.key", "plain")
	masks := masksFor(t, dir, forbids{unreadable: []string{"/config/a.key", "/b.key", "/null", "/passwd"}}, filepath.Join(dir, "config"), other, "/dev", "/etc", "/", "/missing")
	slices.Sort(masks.Unreadable)
	want := []string{filepath.Join(dir, "conf.d/a.key"), filepath.Join(other, "b.key")}
	slices.Sort(want)
	must.Equal(t, want, masks.Unreadable)
}

func TestWhichProgramsAreMasked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree(t, dir, "bin/tool", "bin/busybox", "bin/applet -> busybox", "else/linked", "bin/linked -> ../else/linked", "bin/sh", "bin/py3.12", "bin/py3 -> py3.12", "bin/x86-gcc-13", "bin/gcc -> x86-gcc-13", "bin/coreutils", "bin/ls -> coreutils")
	got := process.ProgramFiles([]string{"tool", "applet", "linked", "sh", "missing-program", "py3", "gcc", "ls"}, filepath.Join(dir, "bin")+":/nowhere")
	here := func(files []string) []string { // without those of this machine
		return slices.DeleteFunc(files, func(file string) bool { return !strings.HasPrefix(file, dir) })
	}
	must.Equal(t, []string{filepath.Join(dir, "bin/tool"), filepath.Join(dir, "else/linked"), filepath.Join(dir, "bin/py3.12"), filepath.Join(dir, "bin/x86-gcc-13")}, here(got))
	s := newSandbox(t)
	command := s.command("rm -f x; /bin/rm -f x; cp /bin/rm own; ./own -f x; cat /usr/bin/rm; ls x")
	tree(t, s.dir, "x")
	command.Access.Masks = process.Masks{Unreadable: process.ProgramFiles([]string{"rm"}, os.Getenv("PATH"))}
	command.Access.Masks.Covers = must.Get(process.CoversIn(t.TempDir()))(t)
	if ended, err := process.Run(t.Context(), command); err != nil || ended.Stdout != "x\n" {
		t.Errorf("found %+v %v", ended, err)
	}
}
