package contract_test

import (
	"encoding/json"
	"testing"

	"ringback/internal/web/contract"
	"ringback/test/must"
)

// A kind's schema is a document by itself. In the contract, its references must resolve to
// the same parts, and data that looks like a reference must not be changed.
func TestSchemasOfKindsKeepTheirReferences(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/Root",
		"$defs": {
			"Root": {"properties": {"$ref": {"$ref": "#/$defs/Line"}, "default": {"$ref": "#"}, "enum": {"enum": [{"$ref": "#/data"}]}}},
			"Named": {"$anchor": "named"}, "ByName": {"$ref": "#named"},
			"Deep": {"$ref": "#/$defs/Root/properties/enum"},
			"Line": {"type": "string", "default": {"$ref": "#/data"}, "maxLength": 12345678901234567890}
		}}`)
	made := must.Get(contract.OpenAPI([]contract.Kind{{Name: "own", Input: schema, Result: json.RawMessage(`{}`)}}))(t)
	var d contract.Document
	must.OK(t, json.Unmarshal(made, &d))
	text := must.Get(json.Marshal(d.Components.Schemas))(t)
	for _, want := range []string{
		`"$ref":"#/components/schemas/own.input.Root"`, `"$ref":{"$ref":"#/components/schemas/own.input.Line"}`,
		`"$ref":"#/components/schemas/own.input.Root/properties/enum"`,
		`"default":{"$ref":"#/components/schemas/own.input"}`, `"enum":[{"$ref":"#/data"}]`, `"$ref":"#named"`, `"default":{"$ref":"#/data"}`,
	} {
		must.Contain(t, string(text), want)
	}
	must.NotContain(t, string(text), "$schema", "it still says which draft it is")
}

// A kind whose schema cannot be read is named, and no document is made.
func TestAKindWithoutASchemaIsRefused(t *testing.T) {
	t.Parallel()
	for _, of := range []func([]contract.Kind) ([]byte, error){contract.OpenAPI, contract.AsyncAPI} {
		_, err := of([]contract.Kind{{Name: "own", Input: json.RawMessage(`{`), Result: json.RawMessage(`{}`)}})
		if err == nil {
			t.Fatal("it was described")
		}
		must.Contain(t, err.Error(), "own.input")
	}
}

// A server may lack the kind whose input is the body of POST /api/suggestions, or have no kinds at all.
func TestAServerWithoutKindsIsDescribed(t *testing.T) {
	t.Parallel()
	made := string(must.Get(contract.OpenAPI(nil))(t))
	must.NotContain(t, made, contract.ByKind)
	must.NotContain(t, made, contract.WithInput)
	must.Contain(t, made, `"x-kinds": []`)
}
