package schema_test

import (
	"encoding/json"
	"testing"

	"ringback/test/must"
)

const owned = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://example.com/owned",
  "type": "object",
  "required": ["list", "state"],
  "properties": {
    "list": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
    "state": {"$ref": "#/$defs/State"},
    "readOnly": {"type": "boolean"},
    "stamp": {"type": "string", "readOnly": true}
  },
  "allOf": [{"properties": {"log": {"type": "array", "readOnly": true, "default": []}}}],
  "$defs": {
    "Item": {
      "type": "object",
      "properties": {
        "name": {"type": "string", "default": "unnamed"},
        "accepted": {"type": ["boolean", "null"], "readOnly": true, "default": null},
        "child": {"$ref": "#/$defs/Item"}
      },
      "additionalProperties": false
    },
    "State": {"type": "string", "readOnly": true, "default": "new"}
  }
}`

func TestApplyDefaults(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, value, want string }{
		{"absent ones are filled", `{"list":[{"name":"a"}]}`, `{"list":[{"name":"a","accepted":null}],"state":"new","log":[]}`},
		{
			"Claude's are replaced", `{"list":[{"accepted":true,"child":{"accepted":"yes"}}],"state":"done","log":[1]}`,
			`{"list":[{"accepted":null,"child":{"accepted":null}}],"state":"new","log":[]}`,
		},
		{"without a default it is dropped", `{"stamp":"x"}`, `{"state":"new","log":[]}`},
		{"a field called readOnly is nothing special", `{"readOnly":true}`, `{"readOnly":true,"state":"new","log":[]}`},
		{"what is not valid is left for Validate", `{"list":"no","state":1}`, `{"list":"no","state":"new","log":[]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := newSchema(t, owned).ApplyDefaults(decode(t, tc.value))
			must.Equal(t, decode(t, tc.want), got)
		})
	}
}

func TestApplyDefaultsBeforeValidateForgivesTheServersFields(t *testing.T) {
	t.Parallel()
	s := newSchema(t, owned)
	v := s.ApplyDefaults(decode(t, `{"list":[{"accepted":"yes"}],"state":5}`))
	must.Equal(t, nil, s.Validate(v), "Claude is blamed for fields it was not shown")
}

func TestApplyDefaultsNeverShares(t *testing.T) {
	t.Parallel()
	s := newSchema(t, `{"properties":{"o":{"readOnly":true,"default":{"l":[1]}}}}`)
	first, _ := s.ApplyDefaults(map[string]any{}).(map[string]any)
	first["o"].(map[string]any)["l"].([]any)[0] = "changed"
	second := s.ApplyDefaults(map[string]any{})
	must.Equal(t, decode(t, `{"o":{"l":[1]}}`), second)
}

func TestForClaudeLeavesTheServersFieldsOut(t *testing.T) {
	t.Parallel()
	want := `{"type":"object","required":["list"],` +
		`"properties":{"list":{"type":"array","items":{"$ref":"#/$defs/Item"}},"readOnly":{"type":"boolean"}},` +
		`"allOf":[{"properties":{}}],` +
		`"$defs":{"Item":{"type":"object","properties":{"name":{"type":"string","default":"unnamed"},"child":{"$ref":"#/$defs/Item"}},"additionalProperties":false},` +
		`"State":{"type":"string","readOnly":true,"default":"new"}}}`
	s := newSchema(t, owned)
	must.Equal(t, want, string(s.ForClaude()))
	must.Equal(t, owned, string(s.JSON()), "JSON is not the source")
}

func TestForClaudeKeepsDataAsItIs(t *testing.T) {
	t.Parallel()
	text := `{"properties":{"a":{"enum":[{"readOnly":true},"<b> & c"],"examples":[{"$id":1}],"maximum":1e2},"$schema":{"type":"string"}},"additionalProperties":true}`
	got := newSchema(t, text).ForClaude()
	must.Equal(t, text, string(got))
	if !json.Valid(got) {
		t.Errorf("not JSON: %s", got)
	}
}
