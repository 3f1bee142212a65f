package server

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/kind"
	"ringback/test/must"
)

var update = flag.Bool("update", false, "write the contracts into docs/")

// builtinDocuments returns the contracts with the built-in kinds, and docs/api.md,
// which has tables generated from them.
func builtinDocuments(t *testing.T) map[string]string {
	t.Helper()
	kinds, problems := kind.Load(kind.Builtin())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	d, err := documentsOf(kinds)
	must.OK(t, err)
	reference, err := os.ReadFile("../../docs/api.md")
	must.OK(t, err)
	filled, err := contractOf(describedKinds(kinds)).Fill(string(reference))
	must.OK(t, err)
	return map[string]string{"openapi.json": string(d.OpenAPI), "asyncapi.json": string(d.AsyncAPI), "api.md": filled}
}

// The committed contracts are those that a server serves.
func TestContractsAreCommitted(t *testing.T) {
	t.Parallel()
	for name, want := range builtinDocuments(t) {
		path := "../../docs/" + name
		if *update {
			must.OK(t, os.WriteFile(path, []byte(want), 0o600))
			continue
		}
		got, err := os.ReadFile(path)
		must.OK(t, err)
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("docs/%s is not up to date (make generate): %s", name, diff)
		}
	}
}
