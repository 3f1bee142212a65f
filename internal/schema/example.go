package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Example creates a small object that is valid under a JSON Schema, as far as the generator
// supports the schema's keywords. Its texts are made of word. It returns an error if the
// schema is not a JSON object, or does not describe an object.
func Example(source []byte, word string) (map[string]any, error) {
	return makeExample(source, word, 0)
}

// LeastExample is Example with only what the schema requires.
func LeastExample(source []byte, word string) (map[string]any, error) {
	return makeExample(source, word, maxDepth)
}

func makeExample(source []byte, word string, depth int) (map[string]any, error) {
	root, problems := parseDocument(source)
	if len(problems) > 0 {
		return nil, Join(problems)
	}
	steps := 10_000
	g := generator{schema: &Schema{root: root, node: root}, word: word, steps: &steps}
	if _, ok := root.value.(map[string]any); !ok {
		return nil, errors.New("the schema is no JSON object")
	}
	object, ok := g.value(root.value, depth).(map[string]any)
	if !ok {
		return nil, errors.New("the schema does not ask for an object")
	}
	return object, nil
}

// generator creates values that a JSON Schema accepts. It supports the keywords that are
// usual in schemas of results, and ignores others ("not", "if").
type generator struct {
	// schema contains the document, for references; it is not compiled.
	schema *Schema
	word   string
	// steps is the number of remaining steps, so that a schema that no value satisfies,
	// such as one that requires itself, terminates.
	steps *int
}

// Limits on what is generated, whatever a schema requires: larger results would be
// rejected.
const (
	mostItems      = 1000
	mostCharacters = 100_000
)

// maxDepth is the depth at which optional values are no longer generated.
const maxDepth = 4

func (g generator) value(schema any, depth int) any {
	s := g.flat(schema, depth)
	if v, ok := s["const"]; ok {
		return v
	}
	if values, ok := s["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	if examples, ok := s["examples"].([]any); ok && len(examples) > 0 {
		return examples[0]
	}
	if *g.steps == 0 {
		return nil
	}
	switch typeOf(s) {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.array(s, depth)
	case "integer", "number":
		return numberOf(s)
	case "boolean":
		return true
	case "null":
		return nil
	}
	return g.text(s)
}

// typeOf returns the type to generate: the first that is not null, or the one that the
// keywords apply to.
func typeOf(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		all := names(t)
		if i := slices.IndexFunc(all, func(name string) bool { return name != "null" }); i >= 0 {
			return all[i]
		}
		return "null"
	}
	for _, about := range [...]struct{ keyword, name string }{
		{"properties", "object"},
		{"required", "object"},
		{"minProperties", "object"},
		{"items", "array"},
		{"prefixItems", "array"},
		{"minItems", "array"},
		{"minimum", "number"},
		{"exclusiveMinimum", "number"},
		{"maximum", "number"},
		{"multipleOf", "number"},
	} {
		if _, ok := s[about.keyword]; ok {
			return about.name
		}
	}
	return "string"
}

func (g generator) object(s map[string]any, depth int) map[string]any {
	object := map[string]any{}
	required := names(s["required"])
	for _, name := range required {
		object[name] = g.value(g.property(s, name), depth+1)
	}
	properties, _ := s["properties"].(map[string]any)
	atLeast := int(limit(s, "minProperties", 0))
	if len(required) == 0 && depth < maxDepth && atLeast == 0 {
		atLeast = len(properties)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if _, here := object[name]; here || len(object) >= atLeast || g.readOnly(properties[name]) || properties[name] == false {
			continue
		}
		object[name] = g.value(properties[name], depth+1)
	}
	return object
}

// property returns the schema of a field, which may not have its own.
func (g generator) property(s map[string]any, name string) any {
	properties, _ := s["properties"].(map[string]any)
	if p, ok := properties[name]; ok {
		return p
	}
	return s["additionalProperties"]
}

func (g generator) readOnly(schema any) bool { return g.flat(schema, 0)["readOnly"] == true }

func (g generator) array(s map[string]any, depth int) []any {
	usual := 1
	if depth >= maxDepth {
		usual = 0
	}
	count := int(limit(s, "minItems", float64(usual)))
	count = min(max(count, usual), int(limit(s, "maxItems", mostItems)), mostItems)
	first, _ := s["prefixItems"].([]any)
	list := []any{}
	for i := range count {
		switch {
		case i < len(first):
			list = append(list, g.value(first[i], depth+1))
		case i == len(first) && s["contains"] != nil:
			list = append(list, g.value(s["contains"], depth+1))
		case s["items"] == false:
			return list
		default:
			list = append(list, g.item(s, i, depth+1))
		}
	}
	return list
}

// item generates one item, different from the others if required.
func (g generator) item(s map[string]any, i, depth int) any {
	v := g.value(s["items"], depth)
	if s["uniqueItems"] != true || i == 0 {
		return v
	}
	return g.varied(g.flat(s["items"], depth), v, i)
}

// varied returns the i-th variation of v.
func (g generator) varied(s map[string]any, v any, i int) any {
	if values, ok := s["enum"].([]any); ok {
		return values[i%len(values)]
	}
	switch v := v.(type) {
	case string:
		return strings.Repeat(v+" ", i) + v
	case int64:
		return v + int64(i)
	case float64:
		return v + float64(i)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = g.varied(g.flat(g.property(s, name), 0), v[name], i)
			return v
		}
	}
	return v
}

// names returns the strings of a list.
func names(v any) []string {
	list, _ := v.([]any)
	var all []string
	for _, item := range list {
		if name, ok := item.(string); ok {
			all = append(all, name)
		}
	}
	return all
}

// limit returns the number that a keyword sets.
func limit(s map[string]any, keyword string, otherwise float64) float64 {
	if n, ok := s[keyword].(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return otherwise
}
