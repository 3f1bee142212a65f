package server

import (
	"os"
	"slices"
	"testing"

	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/api"
	"ringback/internal/web/callback"
	"ringback/test/document"
	"ringback/test/generated"
	"ringback/test/must"
)

// ours is what a server guarantees, whatever its kinds.
func ours() document.Contract {
	return document.Contract{Routes: slices.Concat(api.Routes(), callback.Routes()), Events: lifecycle.Events[:]}
}

// The documents that the server is built with are those of its routes and types.
func TestTheEmbeddedContractIsUpToDate(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(document.Contract) ([]byte, error){
		"openapi.json": document.OpenAPI, "asyncapi.json": document.AsyncAPI,
	} {
		generated.File(t, "../web/contract/"+name, string(must.Get(of(ours()))(t)))
	}
}

// The committed contracts are those that a server with the built-in kinds serves, and docs/api.md has tables of them.
func TestContractsAreCommitted(t *testing.T) {
	t.Parallel()
	kinds, problems := kind.Load(kind.Builtin())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	d := must.Get(documentsOf(kinds))(t)
	reference := string(must.Get(os.ReadFile("../../docs/api.md"))(t))
	for name, want := range map[string]string{
		"openapi.json": string(d.OpenAPI), "asyncapi.json": string(d.AsyncAPI), "api.md": filled(t, reference, tables(ours())),
	} {
		generated.File(t, "../../docs/"+name, want)
	}
}
