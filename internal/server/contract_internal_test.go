package server

import (
	"os"
	"testing"

	"ringback/internal/rules/kind"
	"ringback/test/generated"
	"ringback/test/must"
)

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
		generated.File(t, "../../docs/"+name, want)
	}
}
