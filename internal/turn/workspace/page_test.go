package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

// walk reads a change page by page and returns the text of each file.
func walk(t *testing.T, w *workspace.Workspace, captured []job.DiffOutput, s workspace.Snapshot, page workspace.Page) map[string]string {
	t.Helper()
	shown := map[string]string{}
	counted := map[string]*counter{}
	for page.From = 1; page.From > 0; {
		pages := must.Get(w.Page(t.Context(), captured, s, page))(t)
		lines := 0
		for _, f := range pages[0].Files {
			shown[f.Path] += f.Diff
			if counted[f.Path] == nil {
				counted[f.Path] = &counter{}
			}
			if old, now := counted[f.Path].at(f.Diff); !strings.HasPrefix(f.Diff, "diff --git ") && (f.OldStart != old || f.NewStart != now) {
				t.Fatalf("from line %d on, %s begins at %d and %d, want %d and %d", page.From, f.Path, f.OldStart, f.NewStart, old, now)
			}
			counted[f.Path].read(f.Diff)
			lines += strings.Count(f.Diff, "\n")
		}
		if lines > page.Lines || pages[0].NextFrom == 0 && page.From+lines-1 != pages[0].TotalLines {
			t.Errorf("from line %d: %d lines of at most %d, %d in all", page.From, lines, page.Lines, pages[0].TotalLines)
		}
		if pages[0].NextFrom != 0 && pages[0].NextFrom <= page.From {
			t.Fatalf("after line %d comes line %d", page.From, pages[0].NextFrom)
		}
		page.From = pages[0].NextFrom
	}
	return shown
}

// counter counts the lines of a patch by its line numbers.
type counter struct{ old, now, had, has int }

// at returns the numbers of the first line of a text.
func (c counter) at(text string) (old, now int) {
	if strings.HasPrefix(text, job.LineContinues) {
		return c.old - c.had, c.now - c.has
	}
	return c.old, c.now
}

func (c *counter) read(text string) {
	for line := range strings.Lines(text) {
		c.old, c.now = c.at(line)
		var had, has int
		switch {
		case strings.HasPrefix(line, "diff --git "):
			*c = counter{}
		case strings.HasPrefix(line, "@@ "):
			if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " , "), "@@ -%d", &c.old); err != nil {
				continue
			}
			_, after, _ := strings.Cut(line, " +")
			_, _ = fmt.Sscanf(after, "%d", &c.now)
		case c.old == 0 && c.now == 0:
		case line[0] == '+':
			has = 1
		case line[0] == '-':
			had = 1
		case line[0] == ' ':
			had, has = 1, 1
		}
		c.old, c.now, c.had, c.has = c.old+had, c.now+has, had, has
	}
}

// Paging reaches every line and shows what git shows, also from the snapshot if the workspace is
// gone.
func TestPagesReachEveryLine(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, begin()))
	dir := filepath.Join(w.Dir(), "service")
	change(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "inner module")); err != nil { // a patch cannot contain a repository
		t.Fatal(err)
	}
	var long strings.Builder
	for n := range 12_000 { // more than the longest page
		long.WriteString(strings.Repeat("diff --git a/x b/x ", n%9) + "\n")
	}
	write(t, filepath.Join(dir, "long.txt"), long.String())
	write(t, filepath.Join(dir, "wide.txt"), strings.Repeat("x", 3000)+"\nno newline at the end")
	captured, trees := capture(t, w)
	snapshot, err := w.Snapshot(t.Context(), trees)
	if err != nil || snapshot == nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "-c", "safe.directory=*", "-c", "core.quotePath=false", "diff-tree", "-r", "--find-renames", "-p", "refs/ringback/base", trees["service"])
	git.Dir = filepath.Join(w.Dir(), "..", "git", "service")
	all := must.Get(git.Output())(t)
	want := withoutBinaries(string(all))
	if got := captured[0]; got.TotalLines != strings.Count(want, "\n") || !got.Truncated || got.NextFrom != workspace.DefaultLines+1 {
		t.Errorf("captured %d lines, truncated %v, next %d; want %d", got.TotalLines, got.Truncated, got.NextFrom, strings.Count(want, "\n"))
	}
	whole := walk(t, w, captured, nil, workspace.Page{Lines: 777})
	var text strings.Builder
	for _, f := range captured[0].Files {
		text.WriteString(whole[f.Path])
	}
	if text.String() != want {
		t.Errorf("the pages differ from git's diff: %d bytes, want %d", text.Len(), len(want))
	}
	for _, file := range []string{"wide.txt", "service/long.txt", "old name.txt"} {
		one := walk(t, w, captured, nil, workspace.Page{File: file, Lines: 10_000})
		if path := strings.TrimPrefix(file, "service/"); len(one) != 1 || path != "old name.txt" && one[path] != whole[path] {
			t.Errorf("alone, %s differs", file)
		}
	}
	write(t, filepath.Join(dir, "later.txt"), "not captured\n")
	must.Equal(t, whole, walk(t, w, captured, nil, workspace.Page{Lines: 10_000}), "what came later shows")
	must.OK(t, w.Remove())
	left := walk(t, w, captured, snapshot, workspace.Page{Lines: 999})
	for path, text := range whole { // git writes longer ids if there are binaries
		must.Equal(t, strings.Count(text, "\n"), strings.Count(left[path], "\n"), "from the snapshot", path, "differs")
	}
	if _, err := w.Page(t.Context(), captured, nil, workspace.Page{From: 1, Lines: 10}); !errors.Is(err, workspace.ErrElsewhere) {
		t.Errorf("without workspace and snapshot: %v", err)
	}
	if _, err := w.Page(t.Context(), captured, snapshot, workspace.Page{File: "nosuch", From: 1, Lines: 10}); !errors.Is(err, workspace.ErrNoFile) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// withoutBinaries removes the binary files.
func withoutBinaries(patch string) string {
	var kept strings.Builder
	for i, section := range strings.Split(patch, "\ndiff --git ") {
		if i > 0 {
			section = "diff --git " + section
		}
		if section = strings.TrimSuffix(section, "\n") + "\n"; !strings.Contains(section, "\nBinary files ") {
			kept.WriteString(section)
		}
	}
	return kept.String()
}

// A line of any length is shown completely, in pieces that count as lines, each followed by a
// line that no file can contain. No character is split.
func TestPagesShowWholeLines(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{"a": "a\n"}))
	var letters strings.Builder
	for n := range 100_000 {
		letters.WriteRune(rune(0x4e00 + n%2000))
	}
	write(t, filepath.Join(w.Dir(), "service", "wide.txt"), letters.String()+"\nlast\n")
	captured, _ := capture(t, w)
	if got := captured[0]; !got.Truncated || got.NextFrom != 0 {
		t.Errorf("a cut line: truncated %v, next %d", got.Truncated, got.NextFrom)
	}
	shown := walk(t, w, captured, nil, workspace.Page{Lines: 2})["wide.txt"]
	_, text, _ := strings.Cut(shown, "@@\n")
	text = strings.ReplaceAll(text, "\n"+job.LineContinues+"\n+", "")
	if text != "+"+letters.String()+"\n+last\n" {
		t.Errorf("%d of %d bytes are shown: … %s", len(text), letters.Len(), text[max(0, len(text)-40):])
	}
}

// Suspicious content is flagged during the capture, wherever it is in the diff.
func TestCaptureFlags(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{"a": "a\n", "logo": "\x00"}))
	dir := filepath.Join(w.Dir(), "service")
	write(t, filepath.Join(dir, "long.txt"), strings.Repeat("line\n", 5000))
	write(t, filepath.Join(dir, "z.txt"), "-----BEGIN RSA PRIVATE "+"KEY-----\n")
	write(t, filepath.Join(dir, "latin.txt"), "caf\xe9\n")
	write(t, filepath.Join(dir, "nul.sh"), "#!/bin/sh\n#\x00\nrm -rf build\n")
	must.OK(t, os.Remove(filepath.Join(dir, "logo")))
	commit(t, filepath.Join(dir, "inner"), "x", "x\n")
	run(t, "", "git", "init", "--quiet", filepath.Join(dir, "sub", "unborn"))
	write(t, filepath.Join(dir, "sub", "unborn", "y"), "y\n")
	got := diff(t, w, 0)
	flagged := map[string]string{}
	for _, f := range got.Files {
		flagged[f.Path] = f.Suspicious
	}
	must.Equal(t, map[string]string{
		"long.txt": "", "latin.txt": "some bytes of it are no UTF-8: they are shown as \uFFFD, whatever they are", "z.txt": "a line looks like a secret",
		"nul.sh": "binary: its content is not shown", "logo": "",
		"inner": "a git repository of its own: only the id of its commit is pushed, none of its files",
	}, flagged)
	must.Equal(t, []job.LeftOut{{Path: "sub/unborn/", Reason: "it is a git repository of its own, without a commit"}}, got.LeftOut)
}

// A file can be shown completely, with its changes, and compared with another tree; both require
// the workspace.
func TestWholeFilesAndLaterChanges(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for n := range 100 {
		text.WriteString("line " + strconv.Itoa(n) + "\n")
	}
	w := open(t, repo(t, map[string]string{"long.txt": text.String(), "other.txt": "a\n"}))
	dir := filepath.Join(w.Dir(), "service")
	write(t, filepath.Join(dir, "long.txt"), strings.Replace(text.String(), "line 50\n", "LINE 50\n", 1))
	_, first := capture(t, w)
	write(t, filepath.Join(dir, "other.txt"), "b\n")
	captured, trees := capture(t, w)
	whole := walk(t, w, captured, nil, workspace.Page{File: "long.txt", Lines: 30, Context: 1000})
	if shown := whole["long.txt"]; len(whole) != 1 || strings.Count(shown, "\n line ") != 99 || !strings.Contains(shown, "\n-line 50\n+LINE 50\n") {
		t.Errorf("whole, it reads\n%s", shown)
	}
	later, err := w.Page(t.Context(), captured, nil, workspace.Page{From: 1, Lines: 100, Since: first})
	if err != nil || len(later[0].Files) != 1 || later[0].Files[0].Path != "other.txt" || later[0].Summary != "1 file changed, +1, -1" || later[0].Tree != trees["service"] {
		t.Errorf("since then there is %+v, %v", later, err)
	}
	must.Equal(t, 2, len(captured[0].Files), "looking has changed what was captured")
	if _, err := w.Page(t.Context(), captured, nil, workspace.Page{File: "long.txt", From: 1, Lines: 100, Since: first}); !errors.Is(err, workspace.ErrNoFile) {
		t.Errorf("a file that has not changed since: %v", err)
	}
	snapshot := must.Get(w.Snapshot(t.Context(), trees))(t)
	must.OK(t, w.Remove())
	for _, page := range []workspace.Page{{From: 1, Lines: 10, Context: 9}, {From: 1, Lines: 10, Since: first}} {
		if _, err := w.Page(t.Context(), captured, snapshot, page); !errors.Is(err, workspace.ErrElsewhere) {
			t.Errorf("without the workspace: %v", err)
		}
	}
}
