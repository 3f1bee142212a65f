package schema_test

import (
	"fmt"

	"ringback/internal/rules/schema"
)

// All errors of a value are explained at once, so that each can be fixed.
func ExampleSchema_Validate() {
	meal, err := schema.New("meal.json", []byte(`{
		"type": "object", "required": ["name", "type"],
		"properties": {
			"name": {"type": "string", "minLength": 1},
			"type": {"enum": ["breakfast", "lunch", "dinner"]}
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range meal.Validate(map[string]any{"name": "", "type": "brunch"}) {
		fmt.Println(d.Path, d.Message)
	}
	// Output:
	// /name found 0 characters; expected at least 1
	// /type found the string "brunch"; allowed: "breakfast", "lunch", "dinner"
}
