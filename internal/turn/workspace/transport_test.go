package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"ringback/internal/job"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

// transports returns, for each way to reach a bare repository, its address, and the environment of a server
// that can reach it.
func transports(t *testing.T, bare string) map[string]func() (url string, environ []string) {
	t.Helper()
	return map[string]func() (string, []string){
		"file": func() (string, []string) { return "file://" + bare, os.Environ() },
		"https": func() (string, []string) {
			h := hostOf(t, bare)
			return h.URL + "/" + filepath.Base(bare), h.environ
		},
		"ssh": func() (string, []string) {
			ssh := filepath.Join(t.TempDir(), "ssh")
			executable(t, ssh, "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n")
			return "ssh://git@host.example" + bare, append(os.Environ(), "GIT_SSH_COMMAND="+ssh, "GIT_SSH_VARIANT=ssh")
		},
	}
}

var jobs atomic.Int64

// begun has another job clone a repository, and returns its workspace.
func begun(t *testing.T, root workspace.Root, r job.Repository) (*workspace.Workspace, error) {
	t.Helper()
	w := root.Of(fmt.Sprint("req_", jobs.Add(1)), must.Get(workspace.Named([]job.Repository{r}))(t))
	_, err := w.Prepare(t.Context(), func(string) {})
	return w, err
}
