package contract

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// generator generates values for the schemas of a document.
type generator struct {
	*rand.Rand
	document *document
}

// words contains texts, including some that match the patterns of schemas.
var words = []string{
	"a", "0", "42", "1772474400000000", "u1", "s1", "shop", "16:9", "no_shop", "2026-03-02", "Zoë cooks 🍲", "req_06_x", "none", "x y", "\u202e", "'; DROP", "../..", "%2e", "a\nb",
}

// tries is the maximum number of attempts to generate a suitable value.
const tries = 30

// allowed generates a value that a schema allows; false if it found none.
func (g generator) allowed(schema any) (any, bool) {
	for range tries {
		v := g.value(schema, 0)
		if g.document.fault(schema, v) == "" {
			return v, true
		}
	}
	return nil, false
}

// forbidden changes a value to one that the schema forbids, even without the fields that are
// null: such a field counts as absent. It returns false if it found none.
func (g generator) forbidden(schema, value any) (any, bool) {
	for range tries {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, false
		}
		broken := g.broken(decodedAny(text))
		judged := withoutNull(broken)
		if fields, ok := judged.(object); ok {
			if _, isText := fields["messageType"].(string); isText {
				delete(fields, "messageType") // clients may send other types
			}
		}
		if g.document.fault(schema, judged) != "" {
			return broken, true
		}
	}
	return nil, false
}

// withoutNull returns a value without its fields that are null.
func withoutNull(value any) any {
	fields, ok := value.(object)
	if !ok {
		return value
	}
	said := object{}
	for name, v := range fields {
		if v != nil {
			said[name] = withoutNull(v)
		}
	}
	return said
}

func (g generator) pick(list []any) any { return list[g.IntN(len(list))] }

// number returns a number of a schema, or other if it has none.
func number(schema object, keyword string, other int) int {
	if n, ok := schema[keyword].(json.Number); ok {
		if whole, err := n.Int64(); err == nil {
			return int(whole)
		}
	}
	return other
}

func (g generator) value(schema any, depth int) any {
	s := g.document.resolve(schema)
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if choices, ok := s[keyword].([]any); ok {
			return g.value(g.pick(choices), depth)
		}
	}
	if parts, ok := s["allOf"].([]any); ok {
		return g.all(parts, depth)
	}
	if values, ok := s["enum"].([]any); ok {
		return g.pick(values)
	}
	if value, ok := s["const"]; ok {
		return value
	}
	kind := s["type"]
	if kinds, ok := kind.([]any); ok {
		kind = g.pick(kinds)
	}
	switch kind {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.array(s, depth)
	case "string":
		return g.text(s)
	case "integer", "number":
		least := number(s, "minimum", -3)
		return least + g.IntN(max(1, min(number(s, "maximum", least+1000)-least, 1_000_000)))
	case "boolean":
		return g.IntN(2) == 0
	}
	return g.pick([]any{nil, true, 7, "text", []any{}, object{"a": 1}})
}

// all generates an object that fits several schemas; fields of later schemas win.
func (g generator) all(parts []any, depth int) any {
	value := object{}
	for i, part := range parts {
		s := g.document.resolve(part)
		if made, ok := g.object(s, depth).(object); ok {
			maps.Copy(value, made)
		}
		if i > 0 {
			for name, property := range s["properties"].(object) {
				value[name] = g.value(property, depth+1)
			}
		}
	}
	return value
}

func (g generator) object(s object, depth int) any {
	value := object{}
	properties, _ := s["properties"].(object)
	required, _ := s["required"].([]any)
	for name, property := range properties {
		if slices.Contains(required, any(name)) || depth < 4 && g.IntN(3) == 0 {
			value[name] = g.value(property, depth+1)
		}
	}
	if properties == nil && g.IntN(2) == 0 {
		value["a"] = g.value(s["additionalProperties"], depth+1)
	}
	return value
}

func (g generator) array(s object, depth int) any {
	least := number(s, "minItems", 0)
	items := []any{}
	for range least + g.IntN(max(1, min(3, number(s, "maxItems", 3)-least+1))) {
		items = append(items, g.value(s["items"], depth+1))
	}
	return items
}

func (g generator) text(s object) string {
	switch s["format"] {
	case "date":
		return "2026-03-02"
	case "date-time":
		return "2026-03-02T18:00:00Z"
	}
	if pattern, ok := s["pattern"].(string); ok {
		if fit := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !regexp.MustCompile(pattern).MatchString(word) }); len(fit) > 0 {
			return fit[g.IntN(len(fit))]
		}
	}
	if most := number(s, "maxLength", 0); most > 0 && g.IntN(8) == 0 {
		return strings.Repeat("w", most)
	}
	return words[g.IntN(len(words))]
}

// broken returns a value with one random change.
func (g generator) broken(value any) any {
	switch v := value.(type) {
	case object:
		names := slices.Sorted(maps.Keys(v))
		switch {
		case len(names) == 0 || g.IntN(4) == 0:
			v["surprise"] = 1
		case g.IntN(3) == 0:
			delete(v, names[g.IntN(len(names))])
		default:
			name := names[g.IntN(len(names))]
			v[name] = g.broken(v[name])
		}
		return v
	case []any:
		if len(v) > 0 && g.IntN(2) == 0 {
			i := g.IntN(len(v))
			v[i] = g.broken(v[i])
			return v
		}
	}
	return g.pick([]any{nil, true, -1, 7.5, 1_000_000_000, "", "none of these", strings.Repeat("x", 70_000), []any{}, []any{1}, object{}, object{"a": nil}})
}
