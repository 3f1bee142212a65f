package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// mistakes returns problems of a valid schema that its author hardly intended: misspelt
// keywords, which are ignored, and rules that no value satisfies.
func (s *Schema) mistakes() []Problem {
	m := &mistakes{schema: s}
	m.visit(s.root)
	SortProblems(m.problems)
	return m.problems
}

// takesObjects returns a problem if the schema allows no object: inputs and results are
// always objects.
func (s *Schema) takesObjects() []Problem {
	if slices.Contains(s.typesOf(s.root, 16), "object") {
		return nil
	}
	return []Problem{{
		Line: s.root.nearest("/type").line, Message: "only an object can be asked for or submitted, and this schema allows none",
		Hint: `Write "type": "object", with what you need as its properties.`,
	}}
}

// CompileObject compiles the schema of an input or a result, which are objects. The
// problems have lines, but no file; the schema is nil if it does not compile.
func CompileObject(source []byte) (*Schema, []Problem) {
	s, problems := compile(source)
	if len(problems) == 0 {
		problems = s.takesObjects()
	}
	return s, problems
}

type mistakes struct {
	schema   *Schema
	problems []Problem
}

func (m *mistakes) add(line int, message, hint string) {
	m.problems = append(m.problems, Problem{Line: line, Message: message, Hint: hint})
}

// visit checks a schema and its subschemas.
func (m *mistakes) visit(n *node) {
	for _, f := range n.fields {
		if meant := misspelt(f.name); meant != "" {
			m.add(f.node.line, fmt.Sprintf("%q is not a keyword of JSON Schema, so it would be ignored", f.name), fmt.Sprintf("Did you mean %q?", meant))
		}
	}
	m.unsatisfiable(n)
	for _, f := range n.fields {
		switch {
		case slices.Contains(schemaKeywords, f.name):
			m.visit(f.node)
		case slices.Contains(schemaLists, f.name):
			for _, part := range f.node.items {
				m.visit(part)
			}
		case slices.Contains(schemaMaps, f.name):
			for _, part := range f.node.fields {
				m.visit(part.node)
			}
		}
	}
}

// unsatisfiable reports rules of one schema that contradict each other.
func (m *mistakes) unsatisfiable(n *node) {
	never := func(at *node, format string, args ...any) {
		m.add(at.line, "nothing satisfies this: "+fmt.Sprintf(format, args...), "")
	}
	for _, pair := range [][2]string{
		{"minimum", "maximum"},
		{"minLength", "maxLength"},
		{"minItems", "maxItems"},
		{"minProperties", "maxProperties"},
		{"minContains", "maxContains"},
		{"exclusiveMinimum", "maximum"},
		{"minimum", "exclusiveMaximum"},
		{"exclusiveMinimum", "exclusiveMaximum"},
	} {
		low, high := n.get(pair[0]), n.get(pair[1])
		if low == nil || high == nil {
			continue
		}
		a, b := floatOf(low), floatOf(high)
		if a > b || a == b && strings.HasPrefix(pair[0]+pair[1], "exclusive") || a == b && strings.HasPrefix(pair[1], "exclusive") {
			never(low, "%s %s and %s %s", pair[0], quote(low.value), pair[1], quote(high.value))
		}
	}
	if values := n.get("enum"); values != nil && len(values.items) == 0 {
		never(values, "enum lists no value")
	}
	switch none := n.value != false && len(m.schema.typesOf(n, 16)) == 0; {
	case none && len(n.get("enum").list()) > 0:
		never(n.get("enum"), "no value of enum is of the type that is demanded")
	case none && n.get("enum") == nil:
		never(n, "its types exclude each other")
	}
	for _, name := range n.get("required").list() {
		name, _ := name.(string)
		property := n.get("properties").get(name)
		closed := n.get("additionalProperties").is(false) && property == nil && !matchesPattern(n, name)
		if closed || property != nil && property.value == false {
			never(n.get("required"), "%q is required, but no such field is allowed", name)
		}
	}
}

func floatOf(n *node) float64 {
	number, _ := n.value.(json.Number)
	f, _ := number.Float64()
	return f
}

// allTypes are the types of JSON; number includes integer.
var allTypes = []string{"object", "array", "string", "number", "boolean", "null"}

// typesOf returns the types that a schema allows, as far as its own keywords, references
// and parts restrict them.
func (s *Schema) typesOf(n *node, depth int) []string {
	if n == nil || n.value == true || depth == 0 {
		return allTypes
	}
	if n.value == false {
		return nil
	}
	types := slices.Clone(allTypes)
	keep := func(allowed []string) {
		types = slices.DeleteFunc(types, func(t string) bool { return !slices.Contains(allowed, t) })
	}
	if t := n.get("type"); t != nil {
		keep(typeNamesIn(t))
	}
	if v := n.get("const"); v != nil {
		keep([]string{typeOfValue(v.value)})
	}
	if values := n.get("enum"); values != nil {
		var allowed []string
		for _, v := range values.list() {
			allowed = append(allowed, typeOfValue(v))
		}
		keep(allowed)
	}
	if n.get("$ref") != nil {
		keep(s.typesOf(s.referred(n.get("$ref").text()), depth-1))
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		parts := n.get(keyword)
		if parts == nil {
			continue
		}
		var either []string
		for _, part := range parts.items {
			of := s.typesOf(part, depth-1)
			if either = append(either, of...); keyword == "allOf" {
				keep(of)
			}
		}
		keep(either)
	}
	return types
}

func typeNamesIn(t *node) []string {
	names := []string{t.text()}
	for _, v := range t.list() {
		name, _ := v.(string)
		names = append(names, name)
	}
	if slices.Contains(names, "integer") {
		names = append(names, "number")
	}
	return names
}

func typeOfValue(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	}
	return "number"
}
