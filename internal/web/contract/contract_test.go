package contract_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/contract"
	"ringback/test/must"
)

// valuesOf returns the values that a named string of package job has in the source.
func valuesOf(t *testing.T, name string) []string {
	t.Helper()
	text := must.Get(os.ReadFile("descriptions.json"))(t)
	var all struct {
		Values map[string][]struct{ Value string }
	}
	must.OK(t, json.Unmarshal(text, &all))
	var values []string
	for _, v := range all.Values[name] {
		values = append(values, v.Value)
	}
	if values == nil {
		t.Fatalf("the source has no values of %s", name)
	}
	return values
}

// Everything named in the source must be in the tables that the contracts are generated
// from.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	var events []string
	for _, row := range lifecycle.Events {
		events = append(events, string(row.Type))
	}
	for _, event := range valuesOf(t, "job.EventType") {
		if !slices.Contains(events, event) {
			t.Errorf("lifecycle.Events lacks %s", event)
		}
	}
	var kinds []string
	for _, row := range contract.Errors {
		kinds = append(kinds, string(row.Kind))
	}
	for _, kind := range valuesOf(t, "job.ErrorKind") {
		if !slices.Contains(kinds, kind) {
			t.Errorf("the errors lack %s", kind)
		}
	}
}

type empty struct{}

func documentOf(t *testing.T, c contract.Contract) (map[string]any, error) {
	t.Helper()
	text, err := c.OpenAPI()
	if err != nil {
		return nil, err
	}
	var d map[string]any
	must.OK(t, json.Unmarshal(text, &d))
	return d, nil
}

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
	d := must.Get(documentOf(t, contract.Contract{Kinds: []contract.Kind{{Name: "own", Input: schema, Result: json.RawMessage(`{}`)}}}))(t)
	text := must.Get(json.Marshal(d["components"]))(t)
	for _, want := range []string{
		`"$ref":"#/components/schemas/own.input.Root"`, `"$ref":{"$ref":"#/components/schemas/own.input.Line"}`,
		`"$ref":"#/components/schemas/own.input.Root/properties/enum"`,
		`"default":{"$ref":"#/components/schemas/own.input"}`, `"enum":[{"$ref":"#/data"}]`, `"$ref":"#named"`, `"default":{"$ref":"#/data"}`,
	} {
		must.Contain(t, string(text), want)
	}
	must.NotContain(t, string(text), "$schema", "it still says which draft it is")
}

// If something cannot be described, no document is generated.
func TestWhatIsNotDescribedIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]contract.Contract{
		"an unknown parameter":      {Routes: []contract.Route{{Method: http.MethodGet, Path: "/things/:thing", Name: "getThing"}}},
		"two types of one name":     {Routes: []contract.Route{{Method: http.MethodPost, Path: "/a", Name: "a", Body: &contract.Body{Type: Error{}}, Answers: []contract.Answer{{Status: 200, Type: job.Error{}}}}}},
		"a schema that is no JSON":  {Kinds: []contract.Kind{{Name: "own", Input: json.RawMessage(`{`), Result: json.RawMessage(`{}`)}}},
		"two routes of one name":    {Routes: []contract.Route{{Method: http.MethodGet, Path: "/a", Name: "a"}, {Method: http.MethodGet, Path: "/b", Name: "a"}}},
		"the input of no such kind": {Routes: []contract.Route{{Method: http.MethodPost, Path: "/a", Name: "a", Body: &contract.Body{Type: empty{}, InputOf: "none"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d, err := documentOf(t, c); err == nil {
				t.Errorf("it was described: %v", d["paths"])
			}
		})
	}
}

// Error has the same name as another type.
type Error struct {
	Other string `json:"other"`
}
