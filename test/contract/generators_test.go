package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ringback/test/must"
	"ringback/test/sample"
)

// The usual generators of Go clients read the whole document, with their default settings.
func TestGeneratorsReadTheDocument(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	document := must.Get(filepath.Abs("../../docs/openapi.json"))(t)
	for name, row := range map[string]struct {
		module string
		args   []string
	}{
		"oapi-codegen": {"github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2", []string{"-generate", "types,client", "-package", "api", "-o", "api.go", document}},
		"ogen":         {"github.com/ogen-go/ogen/cmd/ogen@v1.24.0", []string{"--target", ".", "--package", "api", document}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin, dir := t.TempDir(), t.TempDir()
			install := exec.CommandContext(t.Context(), "go", "install", row.module)
			install.Dir, install.Env = dir, append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-mod=mod")
			if out, err := install.CombinedOutput(); err != nil {
				t.Skipf("the generator cannot be installed here: %s", out)
			}
			generate := exec.CommandContext(t.Context(), filepath.Join(bin, name), row.args...)
			generate.Dir = dir
			if out, err := generate.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			made := must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t)
			if len(made) == 0 {
				t.Error("no client was made")
			}
		})
	}
}
