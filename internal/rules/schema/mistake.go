package schema

import (
	"fmt"
	"slices"
)

// mistakes returns problems of a valid schema that its author hardly intended: misspelt
// keywords, which are ignored, and required fields that are not allowed.
func (s *Schema) mistakes() (problems []Problem) {
	s.root.eachSchema(func(n *Node) {
		for _, f := range n.fields {
			if meant := misspelt(f.name); meant != "" {
				problems = append(problems, Problem{
					Line: f.node.line, Message: fmt.Sprintf("%q is not a keyword of JSON Schema, so it would be ignored", f.name),
					Hint: fmt.Sprintf("Did you mean %q?", meant),
				})
			}
		}
		for _, name := range n.Get("required").Texts() {
			property := n.Get("properties").Get(name)
			closed := n.Get("additionalProperties").Is(false) && property == nil && !matchesPattern(n, name)
			if closed || property != nil && property.value == false {
				message := fmt.Sprintf("no value can satisfy this: %q is required, but no such field is allowed", name)
				problems = append(problems, Problem{Line: n.Get("required").line, Message: message})
			}
		}
	})
	SortProblems(problems)
	return problems
}

// eachSchema visits a schema and those within it.
func (n *Node) eachSchema(visit func(n *Node)) {
	visit(n)
	for _, f := range n.fields {
		switch {
		case slices.Contains(schemaKeywords, f.name):
			f.node.eachSchema(visit)
		case slices.Contains(schemaLists, f.name):
			for _, part := range f.node.items {
				part.eachSchema(visit)
			}
		case slices.Contains(schemaMaps, f.name):
			for _, part := range f.node.fields {
				part.node.eachSchema(visit)
			}
		}
	}
}

// CompileObject compiles the schema of an input or a result, which are objects. The
// problems have lines, but no file; the schema is nil if it does not compile.
func CompileObject(source []byte) (*Schema, []Problem) {
	s, problems := compile(source)
	if len(problems) == 0 && !s.allowsObject(s.root, mostForms) {
		problems = []Problem{{
			Line: s.root.nearest("/type").line, Message: "only an object can be asked for or submitted, and this schema allows none",
			Hint: `Write "type": "object", with what you need as its properties.`,
		}}
	}
	return s, problems
}

// mostForms is how many levels of alternatives within alternatives are examined.
const mostForms = 16

// allowsObject reports whether a schema allows an object, as far as its own keywords, references
// and parts restrict the type.
func (s *Schema) allowsObject(n *Node, levels int) bool {
	isObject := func(v any) bool { return typeOfValue(v) == "object" }
	for _, part := range s.parts(n, nil) {
		types, constant, values := part.Get("type").Texts(), part.Get("const"), part.Get("enum")
		if part.value == false || types != nil && !slices.Contains(types, "object") || constant != nil && !isObject(constant.value) ||
			values != nil && !slices.ContainsFunc(values.List(), isObject) {
			return false
		}
		for _, keyword := range []string{"anyOf", "oneOf"} {
			forms := part.Get(keyword)
			if forms != nil && levels > 0 &&
				!slices.ContainsFunc(forms.items, func(form *Node) bool { return s.allowsObject(form, levels-1) }) {
				return false
			}
		}
	}
	return true
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
