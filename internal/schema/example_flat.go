package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// flat merges $ref, all of allOf, and one of anyOf or oneOf into one schema. The caller may
// modify the result.
func (g generator) flat(schema any, depth int) map[string]any {
	source, _ := schema.(map[string]any)
	s := maps.Clone(source)
	if s == nil {
		s = map[string]any{}
	}
	if *g.steps == 0 {
		return s
	}
	*g.steps--
	add := func(part any) { merge(s, g.flat(part, depth)) }
	if ref, ok := s["$ref"].(string); ok {
		add(g.lookUp(ref))
	}
	all, _ := s["allOf"].([]any)
	for _, part := range all {
		add(part)
	}
	for _, keyword := range [...]string{"anyOf", "oneOf"} {
		if forms, ok := s[keyword].([]any); ok && len(forms) > 0 {
			add(choose(forms, depth))
		}
	}
	for _, resolved := range [...]string{"$ref", "allOf", "anyOf", "oneOf"} {
		delete(s, resolved)
	}
	return s
}

// choose returns the first form, or at maxDepth one that does not nest deeper.
func choose(forms []any, depth int) any {
	if depth < maxDepth {
		return forms[0]
	}
	for _, form := range forms {
		s, _ := form.(map[string]any)
		switch s["type"] {
		case "null", "string", "number", "integer", "boolean":
			return form
		}
	}
	return forms[0]
}

// merge adds the rules of more to s.
func merge(s, more map[string]any) {
	for keyword, v := range more {
		have, known := s[keyword]
		switch {
		case !known:
			s[keyword] = v
		case keyword == "properties":
			s[keyword] = mergeProperties(have, v)
		case keyword == "required":
			s[keyword] = union(have, v)
		case strings.HasPrefix(keyword, "min") || keyword == "exclusiveMinimum":
			if number(v) > number(have) {
				s[keyword] = v
			}
		case strings.HasPrefix(keyword, "max") || keyword == "exclusiveMaximum":
			if number(v) < number(have) {
				s[keyword] = v
			}
		}
	}
}

func union(a, b any) []any {
	first, _ := a.([]any)
	second, _ := b.([]any)
	return append(slices.Clone(first), second...)
}

func mergeProperties(a, b any) map[string]any {
	first, _ := a.(map[string]any)
	second, _ := b.(map[string]any)
	all := maps.Clone(first)
	if all == nil {
		all = map[string]any{}
	}
	for name, schema := range second {
		if have, known := all[name]; known {
			all[name] = map[string]any{"allOf": []any{have, schema}}
			continue
		}
		all[name] = schema
	}
	return all
}

func number(v any) float64 {
	n, _ := v.(json.Number)
	f, err := n.Float64()
	if err != nil {
		return 0
	}
	return f
}

// lookUp resolves a reference within the schema.
func (g generator) lookUp(ref string) any {
	if n := g.schema.referred(ref); n != nil {
		return n.value
	}
	return nil
}
