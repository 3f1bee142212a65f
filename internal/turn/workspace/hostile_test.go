package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
	"ringback/test/sample"
)

// hostile is a workspace containing what a job may have left in it. other belongs to another job.
// canary exists once a program of the job has run outside the sandbox, and ran once one has run where it
// can write to Ringback's repositories. clean is the unchanged workspace.
type hostile struct {
	*workspace.Workspace
	tree, trusted, other, canary, ran string
	clean                             workspace.Snapshot
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	named := must.Get(workspace.Named([]job.Repository{{URL: repo(t, map[string]string{"main.go": "package main\n"})}}))(t)
	dir := t.TempDir()
	w := workspace.Root{Dir: dir, Environ: os.Environ(), Sandbox: sandbox(t, dir)}.Of("req_1", named)
	must.Get(w.Prepare(t.Context(), func(string) {}))(t)
	h := &hostile{
		Workspace: w, tree: filepath.Join(w.Dir(), "service"), trusted: filepath.Join(dir, "workspaces", "req_1", "git", "service"),
		other: filepath.Join(dir, "workspaces", "req_2", "git", "service"), canary: filepath.Join(t.TempDir(), "canary"),
	}
	h.ran = h.trusted + ".ran"
	_, trees := capture(t, w)
	h.clean = must.Get(w.Snapshot(t.Context(), trees))(t)
	write(t, filepath.Join(h.other, "secret"), "of another job")
	run(t, "", "git", "init", "--quiet", "--bare", h.other+".git")
	return h
}

// settings returns a configuration with programs for git to run, which make files.
func (h *hostile) settings(files ...string) string {
	touch := "touch " + strings.Join(files, " ")
	return "[core]\n\tfsmonitor = " + touch + "\n\tsshCommand = " + touch + "\n\thooksPath = " + h.tree + "/hooks\n\tpager = " + touch + "\n\teditor = " + touch + "\n\taskPass = " + touch +
		"\n\talternateRefsCommand = " + touch + "\n[filter \"x\"]\n\tclean = " + touch + "; cat\n\tsmudge = " + touch + "\n\tprocess = " + touch + "\n\trequired = false\n[diff \"x\"]\n\ttextconv = " + touch + ";cat\n\tcommand = " + touch +
		"\n[diff]\n\texternal = " + touch + "\n[credential]\n\thelper = !" + touch + "\n[uploadpack]\n\tpackObjectsHook = " + touch + "\n[merge \"x\"]\n\tdriver = " + touch +
		"\n[include]\n\tpath = " + h.other + "/secret\n[includeIf \"gitdir:/\"]\n\tpath = " + h.other + "/secret\n[fetch]\n\tbundleURI = file://" + h.other + "/secret\n[gpg]\n\tprogram = " + touch + "\n[alias]\n\tadd = !" + touch + "\n"
}

// What a job leaves in its workspace does not run outside the sandbox, or with access to Ringback's
// repositories, and does not reveal other jobs' files, wherever the job writes its settings.
func TestHostileWorkspaces(t *testing.T) {
	t.Parallel()
	attributes := "* filter=x diff=x merge=x\n"
	for name, plant := range sample.Cases(t, 5, map[string]func(t *testing.T, h *hostile){
		"attributes": func(t *testing.T, h *hostile) { write(t, h.tree+"/.gitattributes", attributes) },
		"settings of its own": func(t *testing.T, h *hostile) {
			write(t, h.tree+"/.gitattributes", attributes)
			write(t, h.tree+"/.git/config", h.settings(h.canary, h.ran))
		},
		"settings of all of its own": func(t *testing.T, h *hostile) {
			write(t, h.tree+"/.git/info/attributes", attributes)
			write(t, h.tree+"/.git/config", h.settings(h.canary, h.ran))
			write(t, h.tree+"/../.git/config", h.settings(h.canary, h.ran))
		},
		"settings of ours": func(t *testing.T, h *hostile) {
			write(t, h.tree+"/.gitattributes", attributes)
			write(t, h.trusted+"/config", "[core]\n\tbare = true\n\trepositoryformatversion = 0\n"+h.settings(h.canary))
			write(t, h.trusted+"/info/attributes", attributes)
		},
		"a common directory": func(t *testing.T, h *hostile) {
			run(t, "", "cp", "-r", h.trusted, h.tree+"/evil")
			write(t, h.tree+"/evil/config", "[core]\n\tbare = true\n\trepositoryformatversion = 0\n"+h.settings(h.canary))
			write(t, h.trusted+"/commondir", h.tree+"/evil\n")
		},
		"hooks": func(t *testing.T, h *hostile) {
			for _, dir := range []string{h.tree + "/.git/hooks", h.trusted + "/hooks", h.tree + "/hooks"} {
				for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction", "post-checkout", "pre-push", "fsmonitor-watchman"} {
					executable(t, filepath.Join(dir, hook), "#!/bin/sh\ntouch "+h.canary+"\n")
				}
			}
		},
		"a link for .git": func(t *testing.T, h *hostile) {
			must.OK(t, os.RemoveAll(h.tree+"/.git"))
			must.OK(t, os.Symlink(h.other+".git", h.tree+"/.git"))
		},
		"a file for .git": func(t *testing.T, h *hostile) {
			must.OK(t, os.RemoveAll(h.tree+"/.git"))
			write(t, h.tree+"/.git", "gitdir: "+h.other+".git\n")
		},
		"a repository within that leads out": func(t *testing.T, h *hostile) {
			write(t, h.tree+"/inner/.git", "gitdir: "+h.other+".git\n")
			write(t, h.tree+"/inner/file", "text")
		},
		"modules": func(t *testing.T, h *hostile) {
			write(t, h.tree+"/.gitmodules", "[submodule \"--upload-pack=touch\"]\n\tpath = inner\n\turl = ext::sh -c touch% "+h.canary+"\n\tupdate = !touch "+h.canary+
				"\n[submodule \"../../x\"]\n\tpath = -c\n\turl = --upload-pack=touch "+h.canary+"\n")
			run(t, "", "git", "init", "--quiet", h.tree+"/inner")
			write(t, h.tree+"/inner/.git/config", h.settings(h.canary, h.ran))
		},
		"objects of others": func(t *testing.T, h *hostile) {
			for _, dir := range []string{h.trusted, h.tree + "/.git"} {
				write(t, dir+"/objects/info/alternates", h.other+".git/objects\n/etc\n")
			}
		},
		"links out of the sandbox": func(t *testing.T, h *hostile) {
			for from, to := range map[string]string{"secret": h.other + "/secret", "dir": h.other, "up": "../../../req_2/git/service/secret", ".gitignore": h.other + "/secret", ".gitattributes": h.other + "/secret"} {
				_ = os.Remove(filepath.Join(h.tree, from))
				must.OK(t, os.Symlink(to, filepath.Join(h.tree, from)))
			}
		},
		"a link for all": func(t *testing.T, h *hostile) {
			must.OK(t, os.RemoveAll(h.tree))
			must.OK(t, os.Symlink(h.other, h.tree))
		},
		"names like options": func(t *testing.T, h *hostile) {
			for _, name := range []string{"--upload-pack=touch " + filepath.Base(h.canary), "-c", "--", ":(top)", "--output=x", "@{u}", "a..b"} {
				write(t, filepath.Join(h.tree, name), "text")
			}
		},
		"refs that lead out": func(t *testing.T, h *hostile) {
			write(t, h.trusted+"/HEAD", "ref: ../../../../req_2/git/service/secret\n")
			write(t, h.trusted+"/refs/replace/0000000000000000000000000000000000000000", strings.Repeat("1", 40)+"\n")
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			plant(t, h)
			all, trees, err := h.Diff(t.Context(), 0) // it may fail
			if err == nil {
				_, _ = h.Snapshot(t.Context(), trees)
			}
			for _, d := range all {
				for _, f := range d.Files {
					must.NotContain(t, f.Diff, "of another job", f.Path, "shows what is another job's")
				}
			}
			done, _ := h.Publish(t.Context(), workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Message: "Change it", Trees: trees})
			for _, f := range done {
				if f.Error != "" && err == nil {
					t.Logf("publishing: %s", f.Error)
				}
			}
			if err := h.Restore(t.Context(), h.clean); err != nil {
				t.Logf("restoring: %s", err)
			}
			if _, err := os.Stat(h.canary); err == nil {
				t.Error("a program of the job's has run outside of the sandbox")
			}
			if _, err := os.Stat(h.ran); err == nil {
				t.Error("a program of the job's has run where it can write to our repositories")
			}
		})
	}
}

// A repository that a request names by its path is fetched in the sandbox, and pushed to, wherever its parts
// are.
func TestRepositoriesByPathInTheSandbox(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string // of git, in the bare repository
		path string
	}{
		"a bare repository": {nil, "."},
		"a worktree":        {[]string{"worktree", "add", "--quiet", "../work", "main"}, "../work"},
		"a shared clone":    {[]string{"clone", "--quiet", "--shared", ".", "../shared"}, "../shared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bare := repo(t, map[string]string{"main.go": "package main\n"})
			if c.args != nil {
				run(t, bare, "git", c.args...)
			}
			remote := filepath.Join(bare, c.path)
			named := must.Get(workspace.Named([]job.Repository{{URL: remote, Name: "service", FromRequest: true}}))(t)
			dir := t.TempDir()
			root := workspace.Root{Dir: dir, Environ: os.Environ(), Sandbox: sandbox(t, dir), Requests: outbound.Policy{Open: true}}
			for _, id := range []string{"req_1", "req_2"} { // the second uses the existing mirror
				w := root.Of(id, named)
				must.Get(w.Prepare(t.Context(), func(string) {}))(t)
				write(t, filepath.Join(w.Dir(), "service", "new.go"), "package main\n")
				_, trees := capture(t, w)
				for _, f := range published(t, w, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: id, Message: "Change it", Trees: trees}) {
					must.Equal(t, "", f.Error, "publishing", id)
				}
				run(t, remote, "git", "rev-parse", "--verify", "ringback/"+id)
			}
		})
	}
}
