package schema_test

import (
	"testing"

	"ringback/test/must"
)

const deployment = `{
	"type": "object",
	"properties": {"place": {"$ref": "#/$defs/place"}, "note": {"type": "string"}, "labels": {"type": "object"}},
	"allOf": [{"properties": {"version": {"type": "string"}}}],
	"additionalProperties": false,
	"$defs": {"place": {"properties": {"region": {"type": "string"}}}}
}`

func TestWhichFieldsAnInputCanHave(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]string{
		"note":         {},
		"place.region": {},
		"version":      {},
		"labels.team":  {}, // labels does not describe its fields
		"noet":         {"the input schema has no field noet", "It has: place, note, labels."},
		"place.regoin": {"the input schema has no field regoin", "It has: region."},
		"note.length":  {"the input schema has no field length there: string holds no fields", ""},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			message, hint := newSchema(t, deployment).FieldFault(path)
			must.Equal(t, want, [2]string{message, hint})
		})
	}
}

func TestWhichFieldsASchemaNames(t *testing.T) {
	t.Parallel()
	s := newSchema(t, deployment)
	for name, want := range map[string]bool{"place": true, "version": true, "region": false, "noet": false} {
		must.Equal(t, want, s.HasField(name), name)
	}
}
