package simulated

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// makeResult makes a result for a schema: a menu where it asks for meals, else
// the smallest valid instance.
func makeResult(schema, input map[string]any) any {
	if isMenu(schema) {
		return makeMenu(input)
	}
	return newGenerator(schema).value(schema, 0)
}

// Example returns a small object that is valid under a JSON Schema, as far as
// the schema's keywords are known here. It fails when the schema is no JSON
// object, or asks for something other than an object.
func Example(schema []byte) (map[string]any, error) {
	s, err := decodeObject(schema)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	object, ok := newGenerator(s).value(s, 0).(map[string]any)
	if !ok {
		return nil, errors.New("the schema does not ask for an object")
	}
	return object, nil
}

// spoiled is a result with a mistake that the schema forbids: a required field
// is missing or, where none is required, one has the wrong type.
func spoiled(schema, result map[string]any) map[string]any {
	wrong := maps.Clone(result)
	s := newGenerator(schema).flat(schema, 0)
	required := names(s["required"])
	slices.Sort(required)
	for _, name := range required {
		if _, here := wrong[name]; here {
			delete(wrong, name)
			return wrong
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		wrong[name] = otherType(wrong[name])
		return wrong
	}
	return wrong
}

func otherType(v any) any {
	if _, isText := v.(string); isText {
		return 42
	}
	return "not what was asked for"
}
