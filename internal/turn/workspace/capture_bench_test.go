package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ringback/internal/job"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

// BenchmarkCapture measures reading a change, with and without a sandbox: a repository of 500
// files, of which 50 have changed.
func BenchmarkCapture(b *testing.B) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("dir%d/file%d.go", i%20, i)] = fmt.Sprintf("package file%d\n", i)
	}
	named := must.Get(workspace.Named([]job.Repository{{URL: repo(b, files)}}))(b)
	for name, of := range map[string]func(string) process.Sandbox{"sandbox": func(dir string) process.Sandbox { return sandbox(b, dir) }, "none": func(string) process.Sandbox { return process.Sandbox{} }} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			w := workspace.Root{Dir: dir, Environ: os.Environ(), Sandbox: of(dir)}.Of("req_1", named)
			must.Get(w.Prepare(b.Context(), func(string) {}))(b)
			for i := range 50 {
				write(b, filepath.Join(w.Dir(), "service", fmt.Sprintf("dir%d/file%d.go", i%20, i)), "package changed\n")
			}
			for b.Loop() {
				_, trees, err := w.Diff(b.Context(), 0)
				if err == nil {
					_, err = w.Snapshot(b.Context(), trees)
				}
				must.OK(b, err)
			}
		})
	}
}
