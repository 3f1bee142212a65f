package schema_test

import (
	"encoding/json"
	"testing"

	"ringback/internal/rules/schema"
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
		{"pattern", `{"type": "string", "pattern": "^[A-Z]{2,3}-\\d+(\\.x|y)?$"}`},
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
		{"fraction", `{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}`},
		{"number below", `{"type": "number", "maximum": 0.5}`},
		{"number above", `{"type": "number", "exclusiveMinimum": 1000000}`},
		{"array", `{"type": "array", "items": {"type": "integer"}, "minItems": 3}`},
		{"empty array", `{"type": "array", "maxItems": 0}`},
		{"tuple", `{"type": "array", "prefixItems": [{"const": 1}, {"const": "b"}], "items": false, "minItems": 2}`},
		{"contains", `{"type": "array", "contains": {"const": "x"}}`},
		{"object", `{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}, "additionalProperties": false}`},
		{"required without a schema", `{"type": "object", "required": ["a"]}`},
		{"required by the rest", `{"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}}`},
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
			compiled, err := schema.New("test.json", source)
			must.OK(t, err)
			example, err := compiled.Example("example")
			must.OK(t, err)
			must.Equal(t, nil, compiled.Validate(roundTrip(t, example)), example)
		})
	}
}

func TestLeastExampleHoldsNothingBeyondWhatIsRequired(t *testing.T) {
	t.Parallel()
	source := []byte(`{"required": ["name"], "properties": {
		"name": {"required": ["first"], "properties": {"first": {"type": "string"}, "last": {"type": "string"}}},
		"age": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}}`)
	s, err := schema.New("test.json", source)
	must.OK(t, err)
	got, err := s.LeastExample("word")
	must.OK(t, err)
	must.Equal(t, map[string]any{"name": map[string]any{"first": "word"}}, got)
}

// A schema for which no example is found does not keep the generator busy, and the error
// names the field.
func TestNoExample(t *testing.T) {
	t.Parallel()
	for source, path := range map[string]string{
		`{"type": "array"}`: `"#"`,
		`{"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}`:                              `"#/properties/a"`,
		`{"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}`: `"#/properties/a"`,
		`{"required": ["code"], "properties": {"code": {"type": "integer", "multipleOf": 7, "minimum": 50, "maximum": 60}}}`:              `"#/properties/code"`,
	} {
		s, err := schema.New("test.json", []byte(source))
		must.OK(t, err)
		_, err = s.Example("example")
		must.Fail(t, err, path, source)
	}
}

// roundTrip returns a value as it arrives.
func roundTrip(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	must.OK(t, err)
	return decode(t, string(text))
}
