package schema_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/schema"
	"ringback/test/must"
)

// TestExampleIsValid generates an instance of each schema and validates it. Each schema is
// used for a property named v of an object.
func TestExampleIsValid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema string }{
		{"text", `{"type": "string"}`},
		{"nothing said", `{}`},
		{"anything", `true`},
		{"const", `{"const": {"a": [1]}}`},
		{"enum", `{"enum": [3, "x"]}`},
		{"boolean", `{"type": "boolean"}`},
		{"null", `{"type": "null"}`},
		{"one of several types", `{"type": ["null", "integer"], "minimum": 5}`},
		{"short text", `{"type": "string", "maxLength": 3}`},
		{"long text", `{"type": "string", "minLength": 57, "maxLength": 57}`},
		{"pattern", `{"type": "string", "pattern": "^[A-Z]{2,3}-\\d+(\\.x|y)?$", "minLength": 9}`},
		{"pattern without anchors", `{"type": "string", "pattern": "ab+c"}`},
		{"date", `{"type": "string", "format": "date"}`},
		{"date-time", `{"type": "string", "format": "date-time"}`},
		{"time", `{"type": "string", "format": "time"}`},
		{"duration", `{"type": "string", "format": "duration"}`},
		{"email", `{"type": "string", "format": "email"}`},
		{"uri", `{"type": "string", "format": "uri"}`},
		{"uuid", `{"type": "string", "format": "uuid"}`},
		{"hostname", `{"type": "string", "format": "hostname"}`},
		{"ipv4", `{"type": "string", "format": "ipv4"}`},
		{"ipv6", `{"type": "string", "format": "ipv6"}`},
		{"json-pointer", `{"type": "string", "format": "json-pointer"}`},
		{"integer above a fraction", `{"type": "integer", "minimum": 1.5}`},
		{"integer above", `{"type": "integer", "exclusiveMinimum": 7}`},
		{"integer below", `{"type": "integer", "exclusiveMaximum": -7}`},
		{"integer between", `{"type": "integer", "minimum": -4, "maximum": -4}`},
		{"multiple", `{"type": "integer", "multipleOf": 7, "minimum": 50}`},
		{"multiple below", `{"type": "integer", "multipleOf": 7, "maximum": -1}`},
		{"fraction", `{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}`},
		{"number below", `{"type": "number", "maximum": 0.5}`},
		{"number above", `{"type": "number", "exclusiveMinimum": 1000000}`},
		{"array", `{"type": "array", "items": {"type": "integer"}, "minItems": 3}`},
		{"empty array", `{"type": "array", "maxItems": 0}`},
		{"different integers", `{"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": true}`},
		{"different words", `{"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": true}`},
		{"different texts", `{"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": true}`},
		{"different objects", `{"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}, "minItems": 2, "uniqueItems": true}`},
		{"tuple", `{"type": "array", "prefixItems": [{"const": 1}, {"const": "b"}], "items": false, "minItems": 2}`},
		{"contains", `{"type": "array", "contains": {"const": "x"}}`},
		{"object", `{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}, "additionalProperties": false}`},
		{"required without a schema", `{"type": "object", "required": ["a"]}`},
		{"required by the rest", `{"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}}`},
		{"enough properties", `{"type": "object", "minProperties": 2, "required": ["b"], "properties": {"a": {"type": "integer"}, "b": {"type": "null"}, "c": {"type": "string"}}}`},
		{"forbidden property", `{"type": "object", "properties": {"a": false, "b": {"type": "null"}}}`},
		{"reference", `{"$ref": "#/$defs/Day"}`},
		{"reference with an odd name", `{"$ref": "#/$defs/a~1b%20c"}`},
		{"reference by anchor", `{"$ref": "#hour"}`},
		{"tree", `{"$ref": "#/$defs/Tree"}`},
		{"list of links", `{"$ref": "#/$defs/Link"}`},
		{"anyOf", `{"anyOf": [{"type": "integer", "minimum": 3}, {"type": "string"}]}`},
		{"oneOf beside properties", `{"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"], "oneOf": [
			{"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["x"]},
			{"properties": {"kind": {"const": "b"}}}]}`},
		{"allOf", `{"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
			{"properties": {"a": {"minimum": 10}, "b": {"type": "string"}}, "required": ["b"]}]}`},
		{"bounds in parts", `{"type": "integer", "minimum": 3, "allOf": [{"minimum": 9}, {"maximum": 9}, {"maximum": 20}]}`},
		{"example", `{"type": "string", "pattern": "^(y\\Bes)+$", "examples": ["yes"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source := []byte(`{"type": "object", "required": ["v"], "properties": {"v": ` + c.schema + `}, "$defs": {
				"Day": {"type": "string", "format": "date"},
				"a/b c": {"const": 5},
				"Hour": {"$anchor": "hour", "type": "integer", "minimum": 8},
				"Tree": {"type": "object", "required": ["children"], "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}},
				"Link": {"type": "object", "required": ["next"], "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Link"}, {"type": "null"}]}}}}}`)
			example, err := schema.Example(source, "example")
			must.OK(t, err)
			compiled, err := schema.New("test.json", source)
			must.OK(t, err)
			if details := compiled.Validate(roundTrip(t, example)); details != nil {
				t.Errorf("made %v: %v", example, details)
			}
		})
	}
}

func TestExampleOfAnImpossibleSchemaEnds(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`{"$ref": "#"}`,
		`{"allOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "object"}]}`,
		`{"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}`,
		`{"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "pattern": "("}}}`,
		`{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 4, "multipleOf": 0}}}`,
	} {
		done := make(chan struct{})
		go func() {
			_, _ = schema.Example([]byte(source), "example")
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Errorf("%s keeps it busy for ever", source)
		}
	}
}

func TestLeastExampleHoldsNothingBeyondWhatIsRequired(t *testing.T) {
	t.Parallel()
	source := []byte(`{"required": ["name"], "properties": {
		"name": {"required": ["first"], "properties": {"first": {"type": "string"}, "last": {"type": "string"}}},
		"age": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}}`)
	got, err := schema.LeastExample(source, "word")
	must.OK(t, err)
	if diff := cmp.Diff(map[string]any{"name": map[string]any{"first": "word"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoExampleWithoutAnObject(t *testing.T) {
	t.Parallel()
	for _, source := range []string{`[]`, `{"type": "array"}`, ``} {
		if example, err := schema.Example([]byte(source), "example"); err == nil {
			t.Errorf("%q makes %v", source, example)
		}
	}
}

// roundTrip returns a value as it arrives.
func roundTrip(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	must.OK(t, err)
	return decode(t, string(text))
}
