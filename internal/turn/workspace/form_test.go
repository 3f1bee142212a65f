package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

// An untouched file is in no change, whatever form git's attributes demand; what was touched is.
func TestOnlyTheFormOfAFileHasChanged(t *testing.T) {
	t.Parallel()
	crlf := map[string]string{"w.txt": "a\r\nb\r\n", "run.bat": "echo 1\r\n", "id.txt": "$Id: of another system $\n", "lf.txt": "a\n", "dir/d.txt": "a\r\n", "README": "1\n"}
	for name, c := range map[string]struct {
		attributes string // in the repository
		change     map[string]string
		want       string // files that are in the change
	}{
		"text":                            {"*.txt text\n*.bat text eol=crlf\n", nil, ""},
		"text=auto":                       {"* text=auto\n", nil, ""},
		"eol=lf":                          {"* text eol=lf\n", nil, ""},
		"eol=crlf":                        {"* text eol=crlf\n", nil, ""},
		"ident":                           {"*.txt ident\n", nil, ""},
		"an encoding":                     {"lf.txt text working-tree-encoding=UTF-16\n", nil, ""},
		"attributes that come":            {"", map[string]string{".gitattributes": "* text\n"}, ".gitattributes"},
		"attributes in a directory":       {"", map[string]string{"dir/.gitattributes": "* text\n", "w.txt": "a\nb\n"}, "dir/.gitattributes w.txt"},
		"attributes that go":              {"* text eol=crlf\n", map[string]string{".gitattributes": ""}, ".gitattributes"},
		"a line of one file":              {"* text\n", map[string]string{"w.txt": "a\r\nc\r\n"}, "w.txt"},
		"the ends of one file's lines":    {"* text\n", map[string]string{"w.txt": "a\nb\n"}, ""},
		"the same, without any attribute": {"", map[string]string{"w.txt": "a\nb\n"}, "w.txt"},
		"a new file":                      {"* text\n", map[string]string{"new.txt": "a\r\n"}, "new.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := repo(t, crlf)
			if c.attributes != "" {
				pushed(t, url, ".gitattributes", c.attributes)
			}
			w := open(t, url)
			dir := filepath.Join(w.Dir(), "service")
			for file, text := range c.change {
				write(t, filepath.Join(dir, file), text)
			}
			shown := func(w *workspace.Workspace) string {
				var files []string
				got := diff(t, w, 0)
				for _, f := range got.Files {
					files = append(files, f.Path)
				}
				must.Equal(t, 0, len(got.LeftOut), got.LeftOut)
				return strings.Join(files, " ")
			}
			must.Equal(t, c.want, shown(w))
			_, trees := capture(t, w)
			snapshot := must.Get(w.Snapshot(t.Context(), trees))(t)
			other := open(t, url) // another machine continues it
			must.OK(t, other.Restore(t.Context(), snapshot))
			must.Equal(t, c.want, shown(other), "on another machine")
		})
	}
}

// submodule adds a submodule to a repository, and returns the repository.
func submodule(t *testing.T, modules string) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "library")
	commit(t, library, "lib", "1\n")
	url := repo(t, map[string]string{"a": "1\n"})
	git := clones(t, url)
	git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "sub")
	if modules != "" {
		write(t, filepath.Join(strings.TrimSpace(git("rev-parse", "--show-toplevel")), ".gitmodules"), modules)
	}
	git("commit", "-qam", "Submodule")
	git("push", "-q", "origin", "main")
	return url
}

// What is written into the directory of a submodule is not pushed, and named as such.
func TestWhatIsInASubmoduleIsLeftOut(t *testing.T) {
	t.Parallel()
	const in = "it is in the directory of a submodule: only the id of a commit is pushed for that"
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   []job.LeftOut
		files  int
	}{
		"nothing": {func(*testing.T, string) {}, nil, 0},
		"files": {func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "sub", "new.go"), "x")
			write(t, filepath.Join(dir, "sub", "deep", "x"), "x")
			must.OK(t, os.Symlink("/etc", filepath.Join(dir, "sub", "link")))
		}, []job.LeftOut{{Path: "sub/link", Reason: in}, {Path: "sub/new.go", Reason: in}, {Path: "sub/deep/x", Reason: in}}, 0},
		"a clone of it": {func(t *testing.T, dir string) {
			t.Helper()
			run(t, dir, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
			write(t, filepath.Join(dir, "sub", "lib"), "2\n")
		}, []job.LeftOut{{Path: "sub/", Reason: "it is a submodule: only the id of its commit is pushed, none of its files"}}, 0},
		"a commit, which is in the diff": {func(t *testing.T, dir string) {
			t.Helper()
			run(t, dir, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
			commit(t, filepath.Join(dir, "sub"), "lib", "2\n")
		}, nil, 1},
		"a link in its place": {func(t *testing.T, dir string) {
			t.Helper()
			must.OK(t, os.RemoveAll(filepath.Join(dir, "sub")))
			must.OK(t, os.Symlink("/etc", filepath.Join(dir, "sub")))
		}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, submodule(t, ""))
			c.change(t, filepath.Join(w.Dir(), "service"))
			got := diff(t, w, 0)
			must.Equal(t, c.want, got.LeftOut)
			must.Equal(t, c.files, len(got.Files), got.Files)
		})
	}
	w := open(t, submodule(t, ""))
	for n := range 300 {
		write(t, filepath.Join(w.Dir(), "service", "sub", strconv.Itoa(n)), "x")
	}
	got := diff(t, w, 0).LeftOut
	must.Equal(t, 101, len(got))
	must.Equal(t, "sub/", got[100].Path)
}

// A .gitmodules that git cannot read, or that hides submodules, changes nothing about the capture.
func TestGitmodulesThatGitRefuses(t *testing.T) {
	t.Parallel()
	for name, modules := range map[string]string{
		"a conflict": "<<<<<<< HEAD\n[submodule\n", "no value": "[submodule \"sub\"]\n\tpath\n", "a name that leads out": "[submodule \"../x\"]\n\tpath = sub\n\turl = -x\n",
		"everything is ignored": "[submodule \"sub\"]\n\tpath = sub\n\turl = /x\n\tignore = all\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, w := range []*workspace.Workspace{open(t, submodule(t, modules)), open(t, submodule(t, ""))} {
				dir := filepath.Join(w.Dir(), "service")
				write(t, filepath.Join(dir, ".gitmodules"), modules)
				write(t, filepath.Join(dir, "a"), "2\n")
				commit(t, filepath.Join(dir, "sub"), "lib", "2\n")
				got, trees := capture(t, w)
				must.Contain(t, fmt.Sprint(got[0].Files), "{sub modified")
				must.Equal(t, 0, len(got[0].LeftOut), got[0].LeftOut)
				must.Get(w.Snapshot(t.Context(), trees))(t)
				done := published(t, w, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Trees: trees, Message: "Change", Commands: []string{"grep 2 a"}})
				must.Equal(t, "", done[0].Error)
			}
		})
	}
}
