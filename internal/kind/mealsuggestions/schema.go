package mealsuggestions

import (
	"encoding/json"

	"github.com/invopop/jsonschema"
)

// JSONSchema implements the generator's interface: the meals there are.
func (MealType) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"breakfast", "lunch", "dinner", "snack"}}
}

// JSONSchemaExtend marks the server's fields and gives them their default, null.
func (Suggestion) JSONSchemaExtend(s *jsonschema.Schema) {
	for _, name := range []string{"accepted", "servingsOverride", "notes"} {
		p, ok := s.Properties.Get(name)
		if !ok {
			continue
		}
		p.ReadOnly = true
		p.Extras = map[string]any{"type": []string{p.Type, "null"}, "default": nil}
		p.Type = ""
	}
}

// Schemas generates the files of the kind, by name.
func Schemas() (map[string][]byte, error) {
	r := jsonschema.Reflector{ExpandedStruct: true}
	files := map[string][]byte{}
	for name, v := range map[string]any{"input": Input{}, "result": Result{}} {
		s := r.Reflect(v)
		s.ID = ""
		s.Title = "meal-suggestions " + name
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return nil, err
		}
		files["meal-suggestions."+name+".json"] = append(text, '\n')
	}
	return files, nil
}
