package simulated

import (
	"encoding/json"
	"maps"
	"slices"

	"ringback/internal/rules/schema"
)

const word = "simulated"

// makeResult makes a result for a schema: a menu if it asks for meals, else a small
// instance.
func makeResult(source, input json.RawMessage) (*schema.Schema, map[string]any, error) {
	s, err := schema.New("the result's schema", source)
	if err != nil {
		return nil, nil, err
	}
	if isMenu(s) {
		menu, err := makeMenu(input)
		return s, menu, err
	}
	result, err := s.Example(word)
	return s, result, err
}

// spoiled returns a result with a mistake that the schema forbids: a field is missing
// or, if none is required, one has the wrong type.
func spoiled(s *schema.Schema, result map[string]any) map[string]any {
	for _, spoil := range []func(wrong map[string]any, name string){
		func(wrong map[string]any, name string) { delete(wrong, name) },
		func(wrong map[string]any, name string) { wrong[name] = otherType(wrong[name]) },
	} {
		for _, name := range slices.Sorted(maps.Keys(result)) {
			wrong := maps.Clone(result)
			if spoil(wrong, name); s.Validate(wrong) != nil {
				return wrong
			}
		}
	}
	return result // anything is allowed
}

func otherType(v any) any {
	if _, isText := v.(string); isText {
		return json.Number("42")
	}
	return "not what was asked for"
}
