package workspace_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

// pointerTo returns the pointer of Git LFS to a content.
func pointerTo(text string) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(text)), len(text))
}

const (
	unfiltered = "its attributes require the filter %s, which the server does not run: without it, git would store the file unfiltered"
	unencoded  = "it could not be converted from the encoding that its attributes name, %s"
)

// What the attributes of a change give to a filter or an encoding that the server does not run is never in the
// change as it is, and what is left out is named with its reason. The repository is what such filters have stored.
func TestWhatAttributesDemandIsStoredOrLeftOut(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("large", 1000)
	attributes := "[attr]crypt filter=git-crypt diff=x\n*.bin filter=lfs diff=lfs merge=lfs -text\nsecret/** crypt\n*.utf16 text working-tree-encoding=UTF-16\n" +
		"*.odd text working-tree-encoding=UTF-99\n*.free -filter\n"
	stored := map[string]string{
		"a.bin": pointerTo(large), "b.bin": pointerTo("b"), "secret/key": "\x00GITCRYPT\x00 1", "a.txt": "1\n", "w.utf16": "w\n", "old.odd": "o\n", "plain.dat": "p\n",
	}
	type files = map[string]string
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		files  files // what is in the change, by file
		left   files // reasons
	}{
		"nothing":                          {nil, files{}, files{}},
		"another content of a large file":  {writes("a.bin", "changed"), files{}, files{"a.bin": "lfs"}},
		"a new large file":                 {writes("new.bin", "new"), files{}, files{"new.bin": "lfs"}},
		"a large file that was downloaded": {writes("a.bin", large), files{}, files{}},
		"a large file that was downloaded and moved": {func(t *testing.T, dir string) {
			t.Helper()
			must.OK(t, os.Remove(filepath.Join(dir, "a.bin")))
			write(t, filepath.Join(dir, "deep", "c.bin"), large)
		}, files{"deep/c.bin": pointerTo(large)}, files{}},
		"a pointer that was moved": {func(t *testing.T, dir string) {
			t.Helper()
			must.OK(t, os.Rename(filepath.Join(dir, "b.bin"), filepath.Join(dir, "c.bin")))
		}, files{"c.bin": pointerTo("b")}, files{}},
		"another pointer":                 {writes("a.bin", pointerTo("other")), files{"a.bin": pointerTo("other")}, files{}},
		"a file that begins as a pointer": {writes("a.bin", pointerTo("x")+"more"), files{}, files{"a.bin": "lfs"}},
		"a large file that is removed": {func(t *testing.T, dir string) {
			t.Helper()
			must.OK(t, os.Remove(filepath.Join(dir, "a.bin")))
		}, files{"a.bin": ""}, files{}},
		"a link in place of a large file": {func(t *testing.T, dir string) {
			t.Helper()
			must.OK(t, os.Remove(filepath.Join(dir, "a.bin")))
			must.OK(t, os.Symlink("a.txt", filepath.Join(dir, "a.bin")))
		}, files{"a.bin": "a.txt"}, files{}},
		"a secret in plain text":             {writes("secret/key", "hunter2"), files{}, files{"secret/key": "git-crypt"}},
		"a new secret, by a macro":           {writes("secret/deep/new", "hunter2"), files{}, files{"secret/deep/new": "git-crypt"}},
		"a secret that looks like a pointer": {writes("secret/key", pointerTo("x")), files{}, files{"secret/key": "git-crypt"}},
		"a secret beside a change":           {both(writes("secret/key", "hunter2"), writes("a.txt", "2\n")), files{"a.txt": "2\n"}, files{"secret/key": "git-crypt"}},
		"attributes that come with the file": {
			both(writes("new/.gitattributes", "*.ipynb filter=nbstripout\n"), writes("new/x.ipynb", "{}")),
			files{"new/.gitattributes": "*.ipynb filter=nbstripout\n"},
			files{"new/x.ipynb": "nbstripout"},
		},
		"attributes that are not committed do not count": {
			both(writes("new/.gitignore", ".gitattributes\n"), both(writes("new/.gitattributes", "* -filter\n"), writes("new/x.bin", "large"))),
			files{"new/.gitignore": ".gitattributes\n"},
			files{"new/x.bin": "lfs"},
		},
		"attributes that take the filter away": {
			both(writes(".gitattributes", "*.txt text\n"), writes("a.bin", "plain")), files{".gitattributes": "*.txt text\n", "a.bin": "plain"}, files{},
		},
		"attributes that have a filter themselves": {
			both(writes(".gitattributes", "* filter=x\n"), writes("a.txt", "2\n")), files{".gitattributes": "* filter=x\n"}, files{"a.txt": "x"},
		},
		"a filter that is switched off": {writes("x.free", "1"), files{"x.free": "1"}, files{}},
		"a filter whose name is markup": {both(writes("m/.gitattributes", "* filter=**ok**`x`\n"), writes("m/x", "1")), files{"m/.gitattributes": "* filter=**ok**`x`\n"}, files{"m/x": "of an unusual name"}},
		"text in an encoding":           {writes("w.utf16", "\xff\xfex\x00\n\x00"), files{"w.utf16": "x\n"}, files{}},
		"text that is not in its encoding": {
			both(writes("w.utf16", "no BOM"), both(writes("new.utf16", "none either"), both(writes("v.utf16", "\xff\xfex\x00\n\x00"), writes("a.txt", "2\n")))),
			files{"v.utf16": "x\n", "a.txt": "2\n"},
			files{"w.utf16": "UTF-16", "new.utf16": "UTF-16"},
		},
		"text in an encoding that git does not know": {
			both(writes("new.odd", "x"), writes("*?[x].odd", "x")), files{}, files{"new.odd": "UTF-99", "*?[x].odd": "UTF-99"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := repo(t, stored)
			pushed(t, url, ".gitattributes", attributes)
			w := open(t, url)
			if c.change != nil {
				c.change(t, filepath.Join(w.Dir(), "service"))
			}
			got, trees := capture(t, w)
			changed, left := files{}, files{}
			for _, f := range got[0].Files {
				changed[f.Path] = ""
				if f.Status != job.FileDeleted {
					changed[f.Path] = run(t, filepath.Join(w.Dir(), "..", "git", "service"), "git", "cat-file", "blob", trees["service"]+":"+f.Path)
				}
			}
			for _, l := range got[0].LeftOut {
				left[l.Path] = l.Reason
			}
			want := files{}
			for path, by := range c.left {
				reason := unfiltered
				if strings.HasPrefix(by, "UTF") {
					reason = unencoded
				}
				want[path] = fmt.Sprintf(reason, by)
			}
			must.Equal(t, c.files, changed, "the change")
			must.Equal(t, want, left, "left out")

			done := published(t, w, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Trees: trees, Message: "Change"})
			must.Equal(t, "", done[0].Error)
			again, _ := capture(t, w)
			must.Equal(t, got, again, "captured once more")
		})
	}
}

// pushed adds a file to the main branch of a repository.
func pushed(t *testing.T, url, file, text string) {
	t.Helper()
	git := clones(t, url)
	write(t, filepath.Join(strings.TrimSpace(git("rev-parse", "--show-toplevel")), file), text)
	git("add", file)
	git("commit", "-qm", "Add "+file)
	git("push", "-q", "origin", "main")
}

// writes returns a change that writes a file.
func writes(file, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		write(t, filepath.Join(dir, file), text)
	}
}

// both returns two changes as one.
func both(a, b func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		a(t, dir)
		b(t, dir)
	}
}

// Many files that git cannot convert take few attempts, and leave out no other file.
func TestManyFilesInAnotherEncoding(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{".gitattributes": "*.u text working-tree-encoding=UTF-16\n"}))
	dir := filepath.Join(w.Dir(), "service")
	for n := range 500 {
		write(t, filepath.Join(dir, fmt.Sprint(n, ".u")), "no BOM")
	}
	write(t, filepath.Join(dir, "other"), "x")
	got := diff(t, w, 0)
	must.Equal(t, 500, len(got.LeftOut))
	must.Equal(t, []string{"other"}, slices.Collect(func(yield func(string) bool) {
		for _, f := range got.Files {
			if !yield(f.Path) {
				return
			}
		}
	}))
}
