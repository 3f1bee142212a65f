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

func (m *mistakes) visit(n *Node) {
	for _, f := range n.fields {
		if meant := misspelt(f.name); meant != "" {
			m.add(
				f.node.line, fmt.Sprintf("%q is not a keyword of JSON Schema, so it would be ignored", f.name),
				fmt.Sprintf("Did you mean %q?", meant),
			)
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

func (m *mistakes) unsatisfiable(n *Node) {
	never := func(at *Node, format string, args ...any) {
		m.add(at.line, "no value can satisfy this: "+fmt.Sprintf(format, args...), "")
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
		low, high := n.Get(pair[0]), n.Get(pair[1])
		if low == nil || high == nil {
			continue
		}
		a, b := floatOf(low), floatOf(high)
		if a > b || a == b && strings.HasPrefix(pair[0]+pair[1], "exclusive") || a == b && strings.HasPrefix(pair[1], "exclusive") {
			never(low, "%s %s and %s %s", pair[0], quote(low.value), pair[1], quote(high.value))
		}
	}
	if values := n.Get("enum"); values != nil && len(values.items) == 0 {
		never(values, "enum lists no value")
	}
	switch none := n.value != false && len(m.schema.typesOf(n, 16)) == 0; {
	case none && len(n.Get("enum").List()) > 0:
		never(n.Get("enum"), "no value of enum is of the type that is demanded")
	case none && n.Get("enum") == nil:
		never(n, "its types exclude each other")
	}
	for _, name := range n.Get("required").Texts() {
		property := n.Get("properties").Get(name)
		closed := n.Get("additionalProperties").Is(false) && property == nil && !matchesPattern(n, name)
		if closed || property != nil && property.value == false {
			never(n.Get("required"), "%q is required, but no such field is allowed", name)
		}
	}
}

func floatOf(n *Node) float64 {
	number, _ := n.value.(json.Number)
	f, _ := number.Float64()
	return f
}

// allTypes are the types of JSON; number includes integer.
var allTypes = []string{"object", "array", "string", "number", "boolean", "null"}

// typesOf returns the types that a schema allows, as far as its own keywords, references
// and parts restrict them.
func (s *Schema) typesOf(n *Node, depth int) []string {
	types := slices.Clone(allTypes)
	keep := func(allowed []string) {
		types = slices.DeleteFunc(types, func(t string) bool { return !slices.Contains(allowed, t) })
	}
	for _, part := range s.parts(n, nil) {
		if part.value == false {
			return nil
		}
		if names := part.Get("type").Texts(); names != nil {
			if slices.Contains(names, "integer") {
				names = append(names, "number")
			}
			keep(names)
		}
		if v := part.Get("const"); v != nil {
			keep([]string{typeOfValue(v.value)})
		}
		if values := part.Get("enum"); values != nil {
			keep(each(values.items, func(v *Node) []string { return []string{typeOfValue(v.value)} }))
		}
		for _, keyword := range []string{"anyOf", "oneOf"} {
			if forms := part.Get(keyword); forms != nil && depth > 0 {
				keep(each(forms.items, func(form *Node) []string { return s.typesOf(form, depth-1) }))
			}
		}
	}
	return types
}

func each(nodes []*Node, types func(n *Node) []string) (all []string) {
	for _, n := range nodes {
		all = append(all, types(n)...)
	}
	return all
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
