package simulate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// makeResult makes a result for a schema: a menu where it asks for meals, else
// the smallest valid instance.
func makeResult(schema, input map[string]any) any {
	if isMenu(schema) {
		return makeMenu(input)
	}
	return instance{root: schema}.of(schema)
}

// instance makes values that a JSON Schema accepts.
type instance struct{ root map[string]any }

func (g instance) of(schema any) any {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return g.of(g.lookUp(ref))
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if values, ok := s["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	if examples, ok := s["examples"].([]any); ok && len(examples) > 0 {
		return examples[0]
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if forms, ok := s[key].([]any); ok && len(forms) > 0 {
			return g.of(forms[0])
		}
	}
	return g.ofType(typeOf(s), s)
}

func typeOf(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		name, _ := t[0].(string)
		return name
	}
	if s["properties"] != nil {
		return "object"
	}
	return "string"
}

func (g instance) ofType(name string, s map[string]any) any {
	switch name {
	case "object":
		return g.object(s)
	case "array":
		list := []any{}
		for range max(1, number(s["minItems"], 1)) {
			list = append(list, g.of(s["items"]))
		}
		return list
	case "integer", "number":
		return number(s["minimum"], min(1, number(s["maximum"], 1)))
	case "boolean":
		return true
	case "null":
		return nil
	}
	return text(s)
}

func (g instance) object(s map[string]any) any {
	object := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if len(required) == 0 || slices.Contains(required, any(name)) {
			object[name] = g.of(properties[name])
		}
	}
	for _, name := range required {
		if name, ok := name.(string); ok && object[name] == nil {
			object[name] = g.of(properties[name])
		}
	}
	return object
}

func text(s map[string]any) string {
	switch s["format"] {
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T18:00:00Z"
	case "time":
		return "18:00:00Z"
	case "uri":
		return "https://example.com/"
	case "email":
		return "someone@example.com"
	case "uuid":
		return "00000000-0000-4000-8000-000000000000"
	}
	word := "simulated"
	for len(word) < number(s["minLength"], 0) {
		word += " simulated"
	}
	return word[:min(len(word), number(s["maxLength"], len(word)))]
}

func number(v any, otherwise int) int {
	n, ok := v.(json.Number)
	if !ok {
		return otherwise
	}
	f, err := n.Float64()
	if err != nil {
		return otherwise
	}
	return int(f)
}

func (g instance) lookUp(ref string) any {
	var v any = g.root
	for token := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		object, _ := v.(map[string]any)
		v = object[token]
	}
	return v
}
