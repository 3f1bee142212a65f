package server

import (
	"flag"
	"os"
	"testing"

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
	d := must.Get(documentsOf(kinds))(t)
	reference := string(must.Get(os.ReadFile("../../docs/api.md"))(t))
	return map[string]string{
		"openapi.json": string(d.OpenAPI), "asyncapi.json": string(d.AsyncAPI),
		"api.md": filled(t, reference, tables(contractOf(describedKinds(kinds)))),
	}
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
		got := must.Get(os.ReadFile(path))(t)
		must.Equal(t, want, string(got), "docs/", name, "is not up to date (make generate)")
	}
}
