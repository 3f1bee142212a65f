package mealsuggestions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
)

// JSONSchema returns the enumeration of meals, for the schema generator.
func (MealType) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", Enum: []any{Breakfast, Lunch, Dinner, Snack}, Description: "A meal of the day.",
	}
}

// JSONSchemaExtend reserves the user's fields for the server: they are read-only for
// Claude, and null until the user decides.
func (Suggestion) JSONSchemaExtend(s *jsonschema.Schema) {
	for _, name := range []string{"accepted", "servingsOverride", "notes"} {
		p, _ := s.Properties.Get(name)
		nullable := []string{p.Type, "null"}
		p.Type, p.ReadOnly = "", true
		p.Extras = map[string]any{"type": nullable, "default": nil} // the generator has no fields for these
	}
}

// descriptionOf describes the types that other types refer to.
func descriptionOf(t reflect.Type, field string) string {
	if field != "" {
		return "" // the field's tag describes it
	}
	switch t {
	case reflect.TypeFor[Input]():
		return "What is asked for: meals for a range of dates."
	case reflect.TypeFor[PastMeal]():
		return "A dish that was cooked before."
	case reflect.TypeFor[Result]():
		return "The suggested meals and why they were chosen."
	case reflect.TypeFor[Suggestion]():
		return "One meal on one date."
	case reflect.TypeFor[Recipe]():
		return "A dish that one can cook from. Only the name is required; give all you can."
	case reflect.TypeFor[Ingredient]():
		return "One line of the shopping list."
	case reflect.TypeFor[Nutrition]():
		return "What one serving holds, estimated."
	}
	return ""
}

// Schemas generates the files of the kind, by file name.
func Schemas() (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, v := range map[string]any{"input": Input{}, "result": Result{}} {
		text, err := generate("meal-suggestions "+name, v)
		if err != nil {
			return nil, fmt.Errorf("generating the %s schema: %w", name, err)
		}
		files["meal-suggestions."+name+".json"] = text
	}
	return files, nil
}

func generate(title string, v any) ([]byte, error) {
	r := jsonschema.Reflector{ExpandedStruct: true, Anonymous: true, LookupComment: descriptionOf}
	s := r.Reflect(v)
	s.Title = title
	s.Extras = map[string]any{"$defs": s.Definitions} // at the end, after the fields
	s.Definitions = nil
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return out.Bytes(), err
}
