package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

// mirrored has a job clone a repository, and returns the job's workspace.
func mirrored(ctx context.Context, t *testing.T, root workspace.Root, id, url string) *workspace.Workspace {
	t.Helper()
	named := must.Get(workspace.Named([]job.Repository{{URL: url}}))(t)
	w := root.Of(id, named)
	must.Get(w.Prepare(ctx, func(string) {}))(t)
	return w
}

// mirrorsOf returns the existing mirrors.
func mirrorsOf(t *testing.T, root workspace.Root) map[string]bool {
	t.Helper()
	entries := must.Get(os.ReadDir(filepath.Join(root.Dir, "mirrors")))(t)
	dirs := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			dirs[e.Name()] = true
		}
	}
	return dirs
}

// The least recently used mirrors are removed first, and none that is in use. Their clones keep
// working, and the next job fetches again.
func TestMirrorsAreRemovedByTheirLastUse(t *testing.T) {
	t.Parallel()
	root := workspace.Root{Dir: t.TempDir(), Environ: os.Environ()}
	urls := []string{}
	places := []string{}
	for _, text := range []string{"1", "2", "3"} {
		url := repo(t, map[string]string{"large": randomText(1 << 20), "which": text})
		before := map[string]bool{}
		if len(urls) > 0 {
			before = mirrorsOf(t, root)
		}
		mirrored(t.Context(), t, root, "req_"+text, url)
		for name := range mirrorsOf(t, root) {
			if !before[name] {
				places = append(places, name)
			}
		}
		urls = append(urls, url)
	}
	mirrored(t.Context(), t, root, "req_again", urls[0]) // now the second is the oldest
	if removed, err := root.PruneMirrors(100 * limit.MiB); err != nil || removed != 0 {
		t.Errorf("within the limit %d were removed: %v", removed, err)
	}
	if removed, err := root.PruneMirrors(5 * limit.MiB / 2); err != nil || removed != 1 || mirrorsOf(t, root)[places[1]] {
		t.Errorf("%d were removed, there are %v: %v", removed, mirrorsOf(t, root), err)
	}
	used := flock.New(filepath.Join(root.Dir, "mirrors", places[2]+".use"))
	if err := used.RLock(); err != nil { // as another server does that clones from it
		t.Fatal(err)
	}
	if removed, err := root.PruneMirrors(0); err != nil || removed != 1 || !mirrorsOf(t, root)[places[2]] {
		t.Errorf("%d were removed, there are %v: %v", removed, mirrorsOf(t, root), err)
	}
	must.OK(t, used.Unlock())
	if err := os.Mkdir(filepath.Join(root.Dir, "mirrors", "x.removed"), 0o700); err != nil { // an interrupted removal
		t.Fatal(err)
	}
	if _, err := root.PruneMirrors(0); err != nil || len(mirrorsOf(t, root)) != 0 {
		t.Errorf("there are %v: %v", mirrorsOf(t, root), err)
	}
	w := mirrored(t.Context(), t, root, "req_2", urls[1]) // its workspace existed before
	write(t, filepath.Join(w.Dir(), "service", "new"), "new\n")
	must.Equal(t, 1, len(diff(t, w, 0).Files), "changed files")
	mirrored(t.Context(), t, root, "req_new", urls[1])
	must.Equal(t, 1, len(mirrorsOf(t, root)), "mirrors")
}

// A clone that runs while mirrors are removed gets the complete repository.
func TestMirrorsAreRemovedBesideJobsAtWork(t *testing.T) {
	t.Parallel()
	root := workspace.Root{Dir: t.TempDir(), Environ: os.Environ()}
	urls := []string{repo(t, map[string]string{"which": "1"}), repo(t, map[string]string{"which": "2"})}
	ctx, stop := context.WithCancel(t.Context())
	var removing, working sync.WaitGroup
	for range 2 { // servers
		removing.Go(func() {
			for ctx.Err() == nil {
				if _, err := root.PruneMirrors(0); err != nil {
					t.Error(err)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	for i, url := range urls {
		working.Go(func() {
			for n := range 6 {
				id := "req_" + strings.Repeat("x", n+1) + string(rune('a'+i))
				w := mirrored(t.Context(), t, root, id, url)
				if text, err := os.ReadFile(filepath.Join(w.Dir(), "service", "which")); err != nil || string(text) != string(rune('1'+i)) {
					t.Errorf("the file holds %q: %v", text, err)
				}
			}
		})
	}
	working.Wait()
	stop()
	removing.Wait()
}

// Each job opens one connection to its remote, and waits for no other job's.
func TestAJobAsksItsRemoteOnce(t *testing.T) {
	t.Parallel()
	bare, dir := repo(t, map[string]string{"a": "1\n"}), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	executable(t, at("ssh"), "#!/bin/sh\ncd "+dir+"\necho >>calls\nif mkdir waits; then cat gate; fi 2>/dev/null\nfor last; do :; done\nexec sh -c \"$last\"\n")
	run(t, dir, "mkfifo", "gate")
	must.OK(t, os.Mkdir(at("waits"), 0o700))
	root := workspace.Root{Dir: t.TempDir(), Environ: append(os.Environ(), "GIT_SSH_COMMAND="+at("ssh"), "GIT_SSH_VARIANT=ssh")}
	r := job.Repository{URL: "ssh://git@host.example" + bare}
	git := clones(t, bare)
	for _, step := range []string{"a new mirror", "nothing new", "a new commit"} {
		_ = os.Remove(at("calls"))
		if step == "a new commit" {
			amended(git, "2")
			git("push", "-q", "origin", "HEAD:main")
		}
		must.Get(begun(t, root, r))(t)
		must.Equal(t, "\n", string(must.Get(os.ReadFile(at("calls")))(t)), step)
	}
	must.OK(t, os.Remove(at("waits")))
	slow := make(chan error)
	go func() {
		_, err := begun(t, root, r)
		slow <- err
	}()
	gate := must.Get(os.OpenFile(at("gate"), os.O_WRONLY, 0))(t) // it is open once the slow job asks
	must.Get(begun(t, root, r))(t)
	must.OK(t, gate.Close())
	must.OK(t, <-slow)
}

// The mirror of a shallow clone follows it, although git borrows from no shallow repository.
func TestAMirrorOfAShallowClone(t *testing.T) {
	t.Parallel()
	bare := repo(t, map[string]string{"a": "1\n"})
	git := clones(t, bare)
	root := workspace.Root{Dir: t.TempDir(), Environ: os.Environ()}
	for _, text := range []string{"2", "3", "4"} {
		amended(git, text)
		git("push", "-q", "origin", "HEAD:main")
		shallow := filepath.Join(root.Dir, "shallow")
		must.OK(t, os.RemoveAll(shallow))
		run(t, "", "git", "clone", "--quiet", "--depth=1", "file://"+bare, shallow)
		w, err := begun(t, root, job.Repository{URL: shallow, Name: "service"})
		must.OK(t, err)
		must.Equal(t, text+"\n", string(must.Get(os.ReadFile(filepath.Join(w.Dir(), "service", "a")))(t)))
	}
}
