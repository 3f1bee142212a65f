package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
	"ringback/test/sample"
)

// repo returns a bare repository with one commit, for use as a remote.
func repo(t testing.TB, files map[string]string) string {
	t.Helper()
	bare := filepath.Join(t.TempDir(), "service.git")
	work := filepath.Join(t.TempDir(), "work")
	run(t, "", "git", "init", "--quiet", "--bare", "--initial-branch=main", bare)
	run(t, "", "git", "clone", "--quiet", bare, work)
	for name, text := range files {
		write(t, filepath.Join(work, name), text)
	}
	run(t, work, "git", "-c", "core.autocrlf=false", "add", "--all")
	run(t, work, "git", "-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "-m", "Begin")
	run(t, work, "git", "push", "--quiet", "origin", "HEAD:main")
	return bare
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

// executable writes a program.
func executable(t testing.TB, path, text string) {
	t.Helper()
	write(t, path, text)
	must.OK(t, os.Chmod(path, 0o700))
}

func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	// If root runs the tests, files made in a sandbox belong to the user of the jobs.
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C.UTF-8", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func open(t testing.TB, urls ...string) *workspace.Workspace {
	t.Helper()
	var list []job.Repository
	for _, url := range urls {
		list = append(list, job.Repository{URL: url})
	}
	named := must.Get(workspace.Named(list))(t)
	dir := t.TempDir()
	w := workspace.Root{Dir: dir, Environ: os.Environ(), Sandbox: sandbox(t, dir), SnapshotLimit: 4 * limit.MiB}.Of("req_1", named)
	if isNew, err := w.Prepare(t.Context(), func(string) {}); err != nil || !isNew {
		t.Fatal(err)
	}
	return w
}

// sandbox returns a sandbox that hides a data directory, with the test binary as its helper.
func sandbox(t testing.TB, data string) process.Sandbox {
	t.Helper()
	return must.Get(process.FindSandbox(t.Context(), process.SandboxOptions{Hidden: []string{data}, Path: os.Getenv("PATH")}))(t)
}

// capture returns the shown changes and the trees of a workspace.
func capture(t testing.TB, w *workspace.Workspace) ([]job.DiffOutput, workspace.Trees) {
	t.Helper()
	all, trees, err := w.Diff(t.Context(), 0)
	must.OK(t, err)
	return all, trees
}

func diff(t testing.TB, w *workspace.Workspace, lines int) job.DiffOutput {
	t.Helper()
	all, _, err := w.Diff(t.Context(), lines)
	must.OK(t, err)
	return all[0]
}

// begin returns files of many types for a repository.
func begin() map[string]string {
	return map[string]string{
		"main.go": "package main\n\nfunc main() {}\n", "old name.txt": strings.Repeat("a line of some length\n", 20), "crlf.txt": "one\r\ntwo\r\n", "empty": "",
		"bin": "\x00\x01\x02", "dir/a.txt": "a\n", "dir/b.txt": "b\n", "run.sh": "#!/bin/sh\n", "über/straße.txt": "ß\n", "link-to-be": "text\n", ".gitignore": "ignored\n",
	}
}

// change makes changes to a worktree that are difficult to show.
func change(t testing.TB, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("main.go"), "package main\n\nfunc main() { println(1) }\n")
	write(t, at("untracked.txt"), "new\n")
	write(t, at("ignored"), "not shown\n")
	write(t, at("new empty"), "")
	write(t, at("bin"), "\x00\x03")
	write(t, at("new.bin"), "\x00\x04")
	write(t, at("crlf.txt"), "one\r\nthree\r\n")
	write(t, at("über/straße.txt"), "ss\n")
	write(t, at("tab\tand\nnewline \"quoted\""), "x\n")
	inner := at("inner module")
	run(t, "", "git", "init", "--quiet", inner)
	write(t, filepath.Join(inner, "x"), "x\n")
	run(t, inner, "git", "add", "x")
	run(t, inner, "env", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
		"git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x")
	for _, err := range []error{
		os.Rename(at("old name.txt"), at("new name.txt")), os.RemoveAll(at("dir")), os.Chmod(at("run.sh"), 0o755),
		os.Remove(at("link-to-be")), os.Symlink("/etc/passwd", at("link-to-be")), os.Symlink("main.go", at("link")),
	} {
		must.OK(t, err)
	}
}

// A file that cannot be read is left out, and shown as such. One that cannot be stored makes the capture
// fail: its disk may just be full.
func TestWhatCannotBeReadOrStored(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, begin()))
	dir := filepath.Join(w.Dir(), "service")
	write(t, filepath.Join(dir, "new.txt"), "new\n")
	var want []job.LeftOut
	for i := range 30 { // more errors than a message has
		name := fmt.Sprintf("closed%02d.txt", i)
		write(t, filepath.Join(dir, name), "closed\n")
		must.OK(t, os.Chmod(filepath.Join(dir, name), 0))
		want = append(want, job.LeftOut{Path: name, Reason: "it could not be read"})
	}
	got := diff(t, w, 0)
	must.Equal(t, want, got.LeftOut)
	must.Equal(t, 1, len(got.Files), "files shown", got.Files)

	write(t, filepath.Join(dir, "new.txt"), "newer\n")
	var blocked []string
	for i := range 256 {
		place := filepath.Join(w.Dir(), "..", "git", "service", "objects", fmt.Sprintf("%02x", i))
		if _, err := os.Stat(place); err != nil {
			write(t, place, "no directory")
			blocked = append(blocked, place)
		}
	}
	if all, _, err := w.Diff(t.Context(), 0); err == nil {
		t.Errorf("captured %+v, although nothing could be stored", all)
	}
	for _, place := range blocked {
		must.OK(t, os.Remove(place))
	}
	must.Equal(t, want, diff(t, w, 0).LeftOut)
}

// The shown diff of difficult changes equals git's own.
func TestDiffIsGits(t *testing.T) {
	t.Parallel()
	url := repo(t, begin())
	w := open(t, url)
	change(t, filepath.Join(w.Dir(), "service"))
	got := diff(t, w, 100_000)

	plain := filepath.Join(t.TempDir(), "plain")
	run(t, "", "git", "clone", "--quiet", url, plain)
	change(t, plain)
	run(t, plain, "git", "add", "--all")
	want := run(t, plain, "git", "-c", "core.quotePath=false", "diff", "--cached", "--find-renames", "--no-color", "HEAD")
	var text strings.Builder
	for _, f := range got.Files {
		if f.Binary {
			text.WriteString("binary " + f.Path + "\n")
		}
		text.WriteString(f.Diff)
	}
	var shown []string
	for section := range strings.SplitSeq(want, "diff --git ") {
		if strings.Contains(section, "Binary files") {
			name, _, _ := strings.Cut(strings.TrimPrefix(section, "a/"), " b/")
			section = "binary " + name + "\n"
		} else if section != "" {
			section = "diff --git " + section
		}
		shown = append(shown, section)
	}
	must.Equal(t, strings.Join(shown, ""), text.String())
	if want := strings.TrimSpace(run(t, plain, "git", "diff", "--cached", "--find-renames", "--shortstat", "HEAD")); !strings.HasPrefix(want, fmt.Sprint(len(got.Files), " files changed")) {
		t.Errorf("%s, git says %s", got.Summary, want)
	}
	statuses := map[string]job.FileStatus{}
	for _, f := range got.Files {
		statuses[f.Path] = f.Status
		if f.Path == "run.sh" && f.Mode != "100644→100755" || f.Path == "new name.txt" && f.OldPath != "old name.txt" {
			t.Errorf("got %+v", f)
		}
	}
	must.Equal(t, map[string]job.FileStatus{
		"main.go": job.FileModified, "untracked.txt": job.FileAdded, "new empty": job.FileAdded, "bin": job.FileModified, "new.bin": job.FileAdded,
		"crlf.txt": job.FileModified, "über/straße.txt": job.FileModified, "tab\tand\nnewline \"quoted\"": job.FileAdded, "new name.txt": job.FileRenamed,
		"dir/a.txt": job.FileDeleted, "dir/b.txt": job.FileDeleted, "run.sh": job.FileModified, "link-to-be": job.FileModified, "link": job.FileAdded, "inner module": job.FileAdded,
	}, statuses)
}

func TestLongDiffIsCut(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{"a": "a\n"}))
	write(t, filepath.Join(w.Dir(), "service", "long.txt"), strings.Repeat("line\n", 100_000))
	write(t, filepath.Join(w.Dir(), "service", "wide.txt"), strings.Repeat("x", 1<<20))
	got := diff(t, w, 0)
	if !got.Truncated || got.TotalLines < 100_000 || got.Summary != "2 files changed, +100001, -0" {
		t.Errorf("truncated %v, %d lines, %s", got.Truncated, got.TotalLines, got.Summary)
	}
	must.Equal(t, workspace.DefaultLines, strings.Count(got.Files[0].Diff+got.Files[1].Diff, "\n"), "lines are shown")
}

func TestSecretsAreFlagged(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{"a": "a\n"}))
	dir := filepath.Join(w.Dir(), "service")
	write(t, filepath.Join(dir, ".env"), "A=1\n")
	write(t, filepath.Join(dir, ".env.example"), "A=\n")
	write(t, filepath.Join(dir, "a"), "-----BEGIN RSA PRIVATE "+"KEY-----\n")
	flagged := map[string]bool{}
	for _, f := range diff(t, w, 0).Files {
		flagged[f.Path] = f.Suspicious != ""
	}
	must.Equal(t, map[string]bool{".env": true, ".env.example": false, "a": true}, flagged)
}

// Whatever Claude does to its repository, the files are shown and nothing runs.
func TestWorkspaceIsHostile(t *testing.T) {
	t.Parallel()
	for name, attack := range sample.Cases(t, 4, map[string]func(t *testing.T, dir, bomb string){
		"hooks": func(t *testing.T, dir, bomb string) {
			write(t, filepath.Join(dir, ".git/hooks/post-index-change"), "#!/bin/sh\n"+bomb)
			write(t, filepath.Join(dir, ".git/hooks/pre-commit"), bomb)
		},
		"fsmonitor": func(t *testing.T, dir, bomb string) { run(t, dir, "git", "config", "core.fsmonitor", bomb) },
		"clean filter": func(t *testing.T, dir, bomb string) {
			run(t, dir, "git", "config", "filter.x.clean", bomb)
			write(t, filepath.Join(dir, ".gitattributes"), "* filter=x\n")
		},
		"textconv": func(t *testing.T, dir, bomb string) {
			run(t, dir, "git", "config", "diff.x.textconv", bomb)
			write(t, filepath.Join(dir, ".gitattributes"), "* diff=x\n")
		},
		"hidden by -diff": func(t *testing.T, dir, _ string) { write(t, filepath.Join(dir, ".gitattributes"), "* -diff\n") },
		"own commits": func(t *testing.T, dir, _ string) {
			run(t, dir, "git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qam", "x")
		},
		"git is deleted": func(t *testing.T, dir, _ string) {
			must.OK(t, os.RemoveAll(filepath.Join(dir, ".git")))
		},
		"git is elsewhere": func(t *testing.T, dir, bomb string) {
			evil := filepath.Join(t.TempDir(), "evil")
			run(t, "", "git", "init", "--quiet", evil)
			run(t, evil, "git", "config", "core.fsmonitor", bomb)
			must.OK(t, os.RemoveAll(filepath.Join(dir, ".git")))
			write(t, filepath.Join(dir, ".git"), "gitdir: "+evil+"/.git\n")
		},
		"a repository inside": func(t *testing.T, dir, bomb string) {
			inner := filepath.Join(dir, "inner")
			commit(t, inner, "x", "x\n")
			run(t, inner, "git", "config", "core.fsmonitor", bomb)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, repo(t, map[string]string{"main.go": "package main\n"}))
			dir := filepath.Join(w.Dir(), "service")
			fired := filepath.Join(t.TempDir(), "fired")
			bomb := filepath.Join(t.TempDir(), "bomb")
			executable(t, bomb, "#!/bin/sh\ntouch "+fired+"\ncat\n")
			write(t, filepath.Join(dir, "main.go"), "package changed\n")
			attack(t, dir, bomb)
			_ = os.Remove(fired) // remove what the attack's own git created
			got := diff(t, w, 0)
			leftOut := name == "clean filter" && len(got.LeftOut) > 0 && got.LeftOut[0].Path == "main.go"
			if len(got.Files) == 0 || !strings.Contains(fmt.Sprint(got.Files), "+package changed") && !leftOut {
				t.Errorf("the change is not shown: %+v, %+v", got.Files, got.LeftOut)
			}
			for _, f := range published(t, w, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Message: "Change"}) {
				must.Equal(t, "", f.Error)
			}
			if _, err := os.Stat(fired); err == nil {
				t.Error("something of the workspace's ran")
			}
		})
	}
}

func TestLinkInThePlaceOfTheRepository(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{"main.go": "package main\n"}))
	dir := filepath.Join(w.Dir(), "service")
	must.OK(t, os.RemoveAll(dir))
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "s\n")
	must.OK(t, os.Symlink(outside, dir))
	got := diff(t, w, 0)
	if len(got.Files) != 1 || got.Files[0].Status != job.FileDeleted {
		t.Errorf("got %+v", got.Files)
	}
	if _, err := os.Stat(filepath.Join(outside, "secret")); err != nil {
		t.Error("what the link led to was touched")
	}
}

// Another machine continues a change, although the remote has moved.
func TestSnapshotMovesAChange(t *testing.T) {
	t.Parallel()
	url := repo(t, begin())
	first := open(t, url)
	change(t, filepath.Join(first.Dir(), "service"))
	want := diff(t, first, 100_000)
	_, trees := capture(t, first)
	write(t, filepath.Join(first.Dir(), "service", "later.txt"), "made by a verifier\n")
	snapshot, err := first.Snapshot(t.Context(), trees)
	if err != nil || len(snapshot) != 1 {
		t.Fatal(err)
	}
	later := filepath.Join(t.TempDir(), "later")
	run(t, "", "git", "clone", "--quiet", url, later)
	write(t, filepath.Join(later, "main.go"), "package later\n")
	run(t, later, "git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qam", "Later")
	run(t, later, "git", "push", "--quiet", "origin", "main")

	second := open(t, url)
	must.OK(t, second.Restore(t.Context(), snapshot))
	must.Equal(t, want, diff(t, second, 100_000))
	approved := time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC)
	must.Equal(t, "", published(t, second, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Message: "Change", Time: approved, Trees: trees})[0].Error)
	must.Equal(t, "", published(t, first, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_2", Message: "Change", Time: approved, Trees: trees})[0].Error)
	must.Equal(t, run(t, url, "git", "rev-parse", "ringback/req_2"), run(t, url, "git", "rev-parse", "ringback/req_1"), "two machines have made two commits of one change")
	must.Equal(t, "", run(t, url, "git", "diff", "--name-only", "ringback/req_1", "ringback/req_2"), "what came after the review was published")
	write(t, filepath.Join(second.Dir(), "service", "later.txt"), "made by somebody\n")
	_, err = second.Publish(t.Context(), workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_3", Message: "Change", Trees: workspace.Trees{"service": strings.Repeat("0", 40)}})
	must.Fail(t, err, "this server has lost files of service")
	write(t, filepath.Join(first.Dir(), "service", "large"), randomText(8<<20))
	_, trees = capture(t, first)
	if snapshot, err := first.Snapshot(t.Context(), trees); err != nil || snapshot != nil {
		t.Errorf("a large change was kept: %v", err)
	}
}

// A restored workspace is the clone that Claude began with, whatever has become of the one in its place.
func TestRestoredWorkspaceIsAUsualClone(t *testing.T) {
	t.Parallel()
	url := repo(t, map[string]string{"a": "a\n"})
	for _, r := range []job.Repository{{URL: url}, {URL: url, Branch: "main", Depth: 1}} {
		dir := t.TempDir()
		w := workspace.Root{Dir: dir, Environ: os.Environ(), Sandbox: sandbox(t, dir)}.Of("req_1", must.Get(workspace.Named([]job.Repository{r}))(t))
		must.Get(w.Prepare(t.Context(), func(string) {}))(t)
		tree := filepath.Join(w.Dir(), "service")
		begun := run(t, tree, "git", "rev-parse", "HEAD")
		write(t, filepath.Join(tree, "new"), "new\n")
		_, trees := capture(t, w)
		snapshot := must.Get(w.Snapshot(t.Context(), trees))(t)
		commit(t, tree, "a", "of Claude's\n")
		write(t, filepath.Join(tree, "locked", "file"), "")
		must.OK(t, os.Chmod(filepath.Join(tree, "locked"), 0))
		must.OK(t, w.Restore(t.Context(), snapshot))
		must.Equal(t, begun, run(t, tree, "git", "rev-parse", "HEAD"))
		must.Equal(t, "?? new\n", run(t, tree, "git", "status", "--short"))
		must.Equal(t, url+"\n", run(t, tree, "git", "remote", "get-url", "origin"))
		must.Equal(t, "main\n", run(t, tree, "git", "branch", "--show-current"))
	}
}

// randomText returns text that cannot be compressed.
func randomText(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	return string(text)
}

func TestFinalizeTwiceAndPartly(t *testing.T) {
	t.Parallel()
	one, two := repo(t, map[string]string{"a": "a\n"}), repo(t, map[string]string{"b": "b\n"})
	w := open(t, one, two, repo(t, map[string]string{"c": "c\n"}))
	write(t, filepath.Join(w.Dir(), "service", "a"), "changed\n")
	write(t, filepath.Join(w.Dir(), "service-2", "b"), "changed\n")
	away := two + ".away"
	must.OK(t, os.Rename(two, away))
	f := workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Message: "Change", Time: time.Unix(1_700_000_000, 0), Commands: []string{`echo "see https://example.com/pull/$RINGBACK_REPOSITORY."`}}
	first := published(t, w, f)
	if first[0].Error != "" || first[0].URL != "https://example.com/pull/service" || first[1].Error == "" || !first[2].Unchanged {
		t.Errorf("first: %+v", first)
	}
	must.OK(t, os.Rename(away, two))
	second := published(t, w, f)
	if second[0].Commit != first[0].Commit || second[1].Error != "" {
		t.Errorf("second: %+v", second)
	}
	for _, url := range []string{one, two} {
		if got := run(t, url, "git", "show", "--format=%an: %s", "--stat", "ringback/req_1"); !strings.Contains(got, "Ringback: Change") || !strings.Contains(got, "1 file changed") {
			t.Errorf("pushed: %s", got)
		}
	}
	f.Message, f.Earlier = "Change, as it was approved in a later round", second[0]
	f.Earlier.Tree = "of an earlier round"
	published(t, w, f)
	must.Equal(t, f.Message+"\n\n", run(t, one, "git", "show", "--no-patch", "--format=%B", "ringback/req_1"))
}

// A finalizer that has succeeded for a tree does not run again, as far as that was recorded.
func TestFinalizersThatSucceededDoNotRunAgain(t *testing.T) {
	t.Parallel()
	dies := errors.New("the server dies")
	for name, c := range map[string]struct {
		// broken is true if the second finalizer fails at first.
		broken bool
		// between changes what was recorded, or the workspace, before the second attempt.
		between func(recorded *job.Finalized, file string)
		// may is called before each step of the first attempt, with what is recorded of it.
		may func(recorded job.Finalized) error
		// then are the commands of the kind that the job has moved to; nil if it has not moved.
		then []string
		runs string
	}{
		"one that succeeded, when the next one failed": {broken: true, runs: "one two"},
		"one that succeeded before the server died": {may: func(recorded job.Finalized) error {
			if recorded.Finalizers == 1 {
				return dies
			}
			return nil
		}, runs: "one two"},
		"all of them":      {runs: "one two"},
		"for another tree": {between: func(_ *job.Finalized, file string) { write(t, file, "2\n") }, runs: "one two one two"},
		"when an earlier version published the tree": {between: func(recorded *job.Finalized, _ string) {
			recorded.Tree, recorded.Finalizers, recorded.FinalizersDone = "", 0, nil
		}, runs: "one two"},
		"when an earlier version published another tree": {between: func(recorded *job.Finalized, file string) {
			recorded.Tree, recorded.Finalizers, recorded.FinalizersDone = "", 0, nil
			write(t, file, "2\n")
		}, runs: "one two one two"},
		"when an earlier version counted all of them": {between: func(recorded *job.Finalized, _ string) {
			recorded.FinalizersDone = nil
		}, runs: "one two"},
		"when an earlier version counted one, and the next failed": {broken: true, between: func(recorded *job.Finalized, _ string) {
			recorded.FinalizersDone = nil
		}, runs: "one two"},
		"when the kind then lists another one first": {
			broken: true, then: []string{"three", "one", "two"}, runs: "one three two",
		},
		"when the kind then lists them in another order": {broken: true, then: []string{"two", "one"}, runs: "one two"},
		"when the kind then lists another one in its place": {
			broken: true, then: []string{"three", "two"}, runs: "one three two",
		},
		"when the kind then lists it twice":          {broken: true, then: []string{"one", "one"}, runs: "one one"},
		"when the kind then lists fewer":             {broken: true, then: []string{"one"}, runs: "one"},
		"when all succeeded, and one more is listed": {then: []string{"one", "two", "three"}, runs: "one two three"},
		"when all succeeded, and none is listed":     {then: []string{}, runs: "one two"},
		"when all succeeded, and another tree follows": {
			between: func(_ *job.Finalized, file string) { write(t, file, "2\n") }, then: []string{"three"}, runs: "one two three",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, dir := open(t, repo(t, map[string]string{"a": "a\n"})), t.TempDir()
			log, broken, file := filepath.Join(dir, "log"), filepath.Join(dir, "broken"), filepath.Join(w.Dir(), "service", "a")
			write(t, file, "1\n")
			if c.broken {
				write(t, broken, "")
			}
			var recorded job.Finalized
			commands := map[string]string{
				"one": "echo one >>" + log + "; echo https://example.com/1", "two": "test ! -e " + broken + " && echo two >>" + log,
				"three": "echo three >>" + log + "; echo https://example.com/1",
			}
			o := workspace.PublishOptions{Report: ignore, RequestID: "req_1", Message: "Change", Time: time.Unix(1_700_000_000, 0), Commands: []string{
				commands["one"], commands["two"],
			}, MayFunc: func(_ context.Context, f job.Finalized) error {
				recorded, recorded.Error = f, "It was interrupted."
				if c.may == nil {
					return nil
				}
				return c.may(f)
			}}
			_, o.Trees = capture(t, w)
			if done := published(t, w, o)[0]; c.may == nil {
				recorded = done
			}
			_ = os.Remove(broken)
			if c.between != nil {
				c.between(&recorded, file)
			}
			_, o.Trees = capture(t, w)
			o.Earlier, o.MayFunc = recorded, may
			if c.then != nil {
				o.Commands = nil
				for _, name := range c.then {
					o.Commands = append(o.Commands, commands[name])
				}
			}
			done := published(t, w, o)[0]
			must.Equal(t, c.runs, strings.Join(strings.Fields(string(must.Get(os.ReadFile(log))(t))), " "))
			must.Equal(t, "", done.Error)
			must.Equal(t, "https://example.com/1", done.URL)
			must.Equal(t, true, done.Has(o.Trees["service"], o.Commands), "it counts as published")
		})
	}
}

func TestVerifiersGetNoSecrets(t *testing.T) {
	t.Parallel()
	url := repo(t, map[string]string{"a": "a\n"})
	named := must.Get(workspace.Named([]job.Repository{{URL: url}}))(t)
	environ := append(os.Environ(), "API_KEYS=secret", "REDIS_URL=secret", "GH_TOKEN=secret", "AWS_SECRET_ACCESS_KEY=secret", "ANTHROPIC_API_KEY=secret")
	w := workspace.Root{Dir: t.TempDir(), Environ: environ}.Of("req_1", named)
	must.Get(w.Prepare(t.Context(), func(string) {}))(t)
	got := verified(t, w, workspace.VerifierRules{},
		job.Verifier{Name: "env", Command: "env; git log --oneline"},
		job.Verifier{Name: "fail", Command: "echo out; echo err >&2; exit 3"}, job.Verifier{Name: "gone", Command: "no-such-program"},
	)
	if !got[0].Success || strings.Contains(got[0].Stdout, "secret") || !strings.Contains(got[0].Stdout, "Begin") {
		t.Errorf("got %+v", got[0])
	}
	if got[1].Verifier != "service:fail" || got[1].ExitCode != 3 || got[1].Stdout != "out\n" || got[1].Stderr != "err\n" || got[1].Success {
		t.Errorf("got %+v", got[1])
	}
	if got[2].Success || got[2].ExitCode != 127 {
		t.Errorf("got %+v", got[2])
	}
}

// Verifiers run unreviewed code that Claude wrote.
func TestVerifiersInTheSandbox(t *testing.T) {
	t.Parallel()
	data, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, ".netrc"), "secret")
	write(t, filepath.Join(data, "workspaces", "req_2", "tree", "a"), "secret")
	sandbox, err := process.FindSandbox(t.Context(), process.SandboxOptions{Home: home, Hidden: []string{data}})
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	must.OK(t, err)
	named := must.Get(workspace.Named([]job.Repository{{URL: repo(t, map[string]string{"a": "a\n"})}}))(t)
	environ := append(os.Environ(), "HOME="+home, "API_KEYS=secret")
	w := workspace.Root{Dir: data, Environ: environ, Sandbox: sandbox}.Of("req_1", named)
	must.Get(w.Prepare(t.Context(), func(string) {}))(t)
	verifiers := []job.Verifier{
		{Name: "its repository", Command: "git log --oneline && git status --short && echo x > built && test -w a"},
		{Name: "other jobs", Command: "! cat " + data + "/workspaces/req_2/tree/a"},
		{Name: "the home", Command: "! cat ~/.netrc && ! cat " + home + "/.netrc"},
		{Name: "our own repository", Command: "! ls " + data + "/workspaces/req_1/git " + data + "/mirrors"},
		{Name: "the environment", Command: "! cat /proc/*/environ | grep -q secret"},
		{Name: "caches", Command: "mkdir -p ~/.cache/x && ! touch /etc/x"},
		{Name: "a stray", Command: "setsid env -i sleep 123.25 >/dev/null 2>&1 &"},
	}
	for _, network := range []job.Network{nil, {job.FullNetwork}, {job.NoNetwork}} {
		for _, got := range verified(t, w, workspace.VerifierRules{Network: network}, verifiers...) {
			if !got.Success || strings.Contains(got.Stdout, "secret") {
				t.Errorf("network %s: %+v", network, got)
			}
		}
	}
	if out, err := exec.Command("pgrep", "-fx", "sleep 123.25").Output(); err == nil {
		t.Errorf("left running: %s", out)
	}
	fetch := job.Verifier{Name: "fetch", Command: "cat /proc/net/route | wc -l; curl -s https://pastebin.example/"}
	if got := verified(t, w, workspace.VerifierRules{}, fetch); got[0].Stdout != "1\n" || got[0].Success || !strings.Contains(got[0].Stderr, `Not reached: pastebin.example:443. The list of hosts under "network"`) {
		t.Errorf("a host that is not listed: %+v", got[0])
	}
}

func TestBadRepositories(t *testing.T) {
	t.Parallel()
	for _, r := range []job.Repository{
		{URL: ""}, {URL: "--upload-pack=touch x"}, {URL: "ext::sh -c x"}, {URL: "x", Branch: "--x"}, {URL: "x", Branch: "a..b"}, {URL: "x", Name: "../x"}, {URL: "x", Name: ".git"}, {URL: "x", Depth: -1},
	} {
		if _, err := workspace.Named([]job.Repository{r}); err == nil {
			t.Errorf("%+v was taken", r)
		}
	}
	named := must.Get(workspace.Named([]job.Repository{{URL: "https://x/a/.."}, {URL: "git@host:org/App.git"}, {URL: "/srv/app"}, {URL: "https://user:hunter2@127.0.0.1:1/x.git"}}))(t)
	var names []string
	for _, r := range named {
		names = append(names, r.Name)
	}
	must.Equal(t, []string{"repository", "App", "app-2", "x"}, names)
	w := workspace.Root{Dir: t.TempDir(), Environ: os.Environ()}.Of("req_1", named[3:])
	if _, err := w.Prepare(t.Context(), func(string) {}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error is %v", err)
	}
}

func BenchmarkSecondClone(b *testing.B) {
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("dir%d/file%d.txt", i%50, i)] = strings.Repeat(fmt.Sprintln("line", i), 50)
	}
	url := repo(b, files)
	named := must.Get(workspace.Named([]job.Repository{{URL: url}}))(b)
	p := workspace.Root{Dir: b.TempDir(), Environ: os.Environ()}
	for i := 0; b.Loop(); i++ {
		w := p.Of(fmt.Sprint("req_", i), named)
		must.Get(w.Prepare(b.Context(), func(string) {}))(b)
	}
}

// Without a sandbox, a job plants programs in Ringback's repositories for the git that has the
// credentials.
func TestPlantedConfigurationRunsNothing(t *testing.T) {
	t.Parallel()
	ran := func(dir string) string { return filepath.Join(dir, "ran") }
	program := func(dir string) string { return "touch " + ran(dir) + "; false" }
	for name, config := range sample.Cases(t, 4, map[string]func(dir string) string{
		"core.sshCommand":           func(d string) string { return "[core]\n\tsshCommand = " + program(d) },
		"credential.helper":         func(d string) string { return "[credential]\n\thelper = !" + program(d) },
		"core.gitProxy":             func(d string) string { return "[core]\n\tgitProxy = " + program(d) },
		"core.askPass":              func(d string) string { return "[core]\n\taskPass = " + program(d) },
		"url.insteadOf":             func(d string) string { return "[url \"ext::sh -c '" + program(d) + "' \"]\n\tinsteadOf = /" },
		"url.pushInsteadOf":         func(d string) string { return "[url \"/nowhere\"]\n\tpushInsteadOf = /" },
		"include.path":              func(d string) string { return "[include]\n\tpath = " + filepath.Join(d, "more") },
		"includeIf":                 func(d string) string { return "[includeIf \"gitdir:/**\"]\n\tpath = " + filepath.Join(d, "more") },
		"core.hooksPath":            func(d string) string { return "[core]\n\thooksPath = " + d },
		"a configuration in pieces": func(string) string { return "[core\n\tbare = perhaps" },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := repo(t, map[string]string{"a": "1\n"})
			w := open(t, remote)
			write(t, filepath.Join(w.Dir(), "service", "a"), "2\n")
			dir := t.TempDir()
			write(t, filepath.Join(dir, "more"), "[core]\n\tsshCommand = "+program(dir)+"\n[url \"/nowhere\"]\n\tinsteadOf = /\n")
			hook := filepath.Join(dir, "pre-push")
			executable(t, hook, "#!/bin/sh\n"+program(dir)+"\n")
			_, trees := capture(t, w)
			root := filepath.Dir(filepath.Dir(filepath.Dir(w.Dir())))
			planted := 0
			for _, pattern := range []string{"workspaces/*/git/service/config", "mirrors/*/config"} {
				files, _ := filepath.Glob(filepath.Join(root, pattern))
				for _, file := range files {
					write(t, file, config(dir)+"\n")
					planted++
				}
			}
			must.Equal(t, 2, planted, "places with a planted configuration")
			done := published(t, w, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Trees: trees, Message: "Change"})
			if done[0].Error != "" || done[0].Commit == "" {
				t.Errorf("publishing: %+v", done[0])
			}
			if _, err := os.Stat(ran(dir)); err == nil {
				t.Error("what was planted ran")
			}
		})
	}
}

// Finalizers have the user's credentials, so they do not run in Claude's worktree.
func TestFinalizersRunWhereClaudeHasNotBeen(t *testing.T) {
	t.Parallel()
	w := open(t, repo(t, map[string]string{"a": "1\n", ".gitignore": "ignored\n"}))
	dir := filepath.Join(w.Dir(), "service")
	write(t, filepath.Join(dir, "a"), "2\n")
	write(t, filepath.Join(dir, "ignored"), "nobody was shown this\n")
	ran := filepath.Join(t.TempDir(), "ran")
	run(t, dir, "git", "config", "alias.status", "!touch "+ran)
	run(t, dir, "git", "config", "core.fsmonitor", "touch "+ran+"; false")
	run(t, dir, "git", "config", "diff.external", "touch "+ran)
	hook := filepath.Join(dir, ".git", "hooks", "post-commit")
	executable(t, hook, "#!/bin/sh\ntouch "+ran+"\n")
	_, trees := capture(t, w)
	done := published(t, w, workspace.PublishOptions{
		MayFunc: may, Report: ignore, RequestID: "req_1", Trees: trees, Message: "Change",
		Commands: []string{"git status && git diff HEAD~1 && git commit --quiet --allow-empty -m x && cat a && ! cat ignored && git remote get-url origin"},
	})
	must.Equal(t, "", done[0].Error, "finalizing")
	if _, err := os.Stat(ran); err == nil {
		t.Error("what Claude had planted ran")
	}
}

// may and ignore are the functions of a publication that nothing stops.
func may(context.Context, job.Finalized) error { return nil }

func ignore(string) {}

// published publishes a change on a machine with nothing wrong.
func published(t *testing.T, w *workspace.Workspace, o workspace.PublishOptions) []job.Finalized {
	t.Helper()
	return must.Get(w.Publish(t.Context(), o))(t)
}

// What is wrong with this machine is no outcome of a repository's: publishing can be repeated, here or elsewhere.
func TestAMachineThatCannotPublishBlamesNoRepository(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*testing.T, string){
		"its clone cannot be read": func(t *testing.T, dir string) { must.OK(t, os.Rename(dir, dir+"-gone")) },
		"git cannot store a commit": func(t *testing.T, dir string) {
			must.OK(t, os.Rename(filepath.Join(dir, "objects"), filepath.Join(dir, "objects-gone")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, repo(t, map[string]string{"a": "a\n"}))
			write(t, filepath.Join(w.Dir(), "service", "a"), "b\n")
			_, trees := capture(t, w)
			spoil(t, filepath.Join(filepath.Dir(w.Dir()), "git", "service"))
			_, err := w.Publish(t.Context(), workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Message: "Change", Trees: trees})
			must.Contain(t, fmt.Sprint(err), "service: ", "the error names the repository")
		})
	}
}
