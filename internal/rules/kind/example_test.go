package kind_test

import (
	"fmt"
	"testing/fstest"

	"ringback/internal/rules/kind"
	"ringback/internal/rules/schema"
)

// A kind is a prompt and, optionally, two schemas. Claude's results are checked against
// the result schema: each detail describes how to repair the result.
func Example() {
	kinds, problems := kind.Load(kind.Source{
		Prompts: fstest.MapFS{"haiku.md": {Data: []byte("---\ndescription: Writes a haiku\n---\nWrite a haiku about the topic.\n")}},
		Schemas: fstest.MapFS{"haiku.result.json": {Data: []byte(`{
			"type": "object", "required": ["lines"],
			"properties": {"lines": {"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": "string"}}}
		}`)}},
	})
	if err := schema.Join(problems); err != nil {
		fmt.Println(err)
		return
	}
	haiku, _ := kinds.Get("haiku")
	fmt.Println(haiku.Policy.Description)
	_, details, err := haiku.Accept(map[string]any{"lines": []any{"One line"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range details {
		fmt.Println(d.Path, d.Message)
	}
	accepted, _, err := haiku.Accept(map[string]any{"lines": []any{"An old silent pond", "A frog jumps into the pond", "Splash! Silence again"}}, nil)
	fmt.Println(string(accepted.JSON), err)
	// Output:
	// Writes a haiku
	// /lines found 1 item; expected at least 3 and at most 3
	// {"lines":["An old silent pond","A frog jumps into the pond","Splash! Silence again"]} <nil>
}
