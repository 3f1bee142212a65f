package schema_test

import (
	"strings"
	"testing"

	"ringback/internal/rules/schema"
)

func TestMistakesAreFoundWithTheirLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema string
		want   []string
	}{
		"misspelt": {
			"{\"type\": \"object\", \"properties\": {\n\"a\": {\"type\": \"array\",\n\"minItms\": 1, \"max_items\": 2, \"uniqueitems\": true}}}",
			[]string{
				`:3: "max_items" is not a keyword of JSON Schema, so it would be ignored (Did you mean "maxItems"?)`,
				`:3: "minItms" is not a keyword of JSON Schema, so it would be ignored (Did you mean "minItems"?)`,
				`:3: "uniqueitems" is not a keyword of JSON Schema, so it would be ignored (Did you mean "uniqueItems"?)`,
			},
		},
		"words of one's own":  {`{"type": "object", "x-minItms": 1, "unit": "g", "example": {}, "id": "a", "properties": {"minItms": {}, "requird": {"default": {"tipe": 1}, "enum": [{"itms": 1}]}}}`, nil},
		"in lists and maps":   {`{"allOf": [{"requird": ["a"]}], "$defs": {"type": {"tpye": "string"}}}`, []string{`:1: "requird" is not`, `:1: "tpye" is not`}},
		"no object":           {"{\n\"type\": \"array\"}", []string{`:2: only an object can be asked for or submitted`}},
		"no object, by form":  {`{"anyOf": [{"type": "string"}, {"const": 5}]}`, []string{`:1: only an object`}},
		"an object, by form":  {`{"anyOf": [{"type": "string"}, {"properties": {}}]}`, nil},
		"bounds":              {`{"properties": {"n": {"minimum": 5, "maximum": 3}}}`, []string{`:1: no value can satisfy this: minimum 5 and maximum 3`}},
		"bounds that touch":   {`{"properties": {"n": {"exclusiveMinimum": 3, "maximum": 3}, "m": {"minimum": 3, "maximum": 3}}}`, []string{`:1: no value can satisfy this: exclusiveMinimum 3 and maximum 3`}},
		"types":               {`{"properties": {"n": {"allOf": [{"type": "string"}, {"type": ["integer", "null"]}]}}}`, []string{`:1: no value can satisfy this: its types`}},
		"types by reference":  {`{"properties": {"n": {"type": "object", "$ref": "#/$defs/text"}}, "$defs": {"text": {"type": "string"}}}`, []string{`:1: no value can satisfy this: its types`}},
		"enum of others":      {`{"properties": {"n": {"type": "integer", "enum": ["1", "2"]}}}`, []string{`:1: no value can satisfy this: no value of enum`}},
		"required, closed":    {`{"required": ["a"], "properties": {"b": {}}, "additionalProperties": false}`, []string{`:1: no value can satisfy this: "a" is required`}},
		"required, forbidden": {`{"required": ["a"], "properties": {"a": false}}`, []string{`:1: no value can satisfy this: "a" is required`}},
		"required, elsewhere": {`{"required": ["a"], "patternProperties": {"^a": {}}, "additionalProperties": false, "properties": {"b": false}}`, nil},
		"refers to itself":    {`{"type": "object", "properties": {"next": {"$ref": "#"}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := schema.CompileObject([]byte(c.schema))
			for i := range max(len(problems), len(c.want)) {
				switch {
				case i >= len(problems):
					t.Errorf("missing: %s", c.want[i])
				case i >= len(c.want) || !strings.HasPrefix(problems[i].Error(), c.want[i]):
					t.Errorf("problem %d: %s", i, problems[i])
				}
			}
		})
	}
}
