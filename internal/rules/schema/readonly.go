package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Properties marked "readOnly" in a result schema belong to the server (JSON Schema
// validation, section 9.4): they are hidden from Claude, and what it sends for them is
// replaced by their default, or dropped if they have none.

// ApplyDefaults sets the server's own properties to their defaults and returns v, which it
// modifies. It sets them only where they certainly apply: under properties, items and the
// like, $ref and allOf, but not under anyOf, oneOf or if. It may be called before Validate,
// on an invalid v, so that Claude never gets an error for a field that was hidden from it.
func (s *Schema) ApplyDefaults(v any) any {
	s.applyDefaults(s.compiled, v)
	return v
}

func (s *Schema) applyDefaults(part *jsonschema.Schema, v any) {
	if part == nil {
		return
	}
	s.applyDefaults(part.Ref, v)
	for _, required := range part.AllOf {
		s.applyDefaults(required, v)
	}
	switch v := v.(type) {
	case map[string]any:
		s.applyToFields(part, v)
	case []any:
		s.applyToItems(part, v)
	}
}

func (s *Schema) applyToFields(part *jsonschema.Schema, object map[string]any) {
	for name, property := range part.Properties {
		if owner, ok := readOnlyOf(property); ok {
			s.setDefault(object, name, owner)
		} else if value, ok := object[name]; ok {
			s.applyDefaults(property, value)
		}
	}
	for name, value := range object {
		if _, known := part.Properties[name]; !known {
			s.applyDefaults(schemaOfOther(part, name), value)
		}
	}
}

func schemaOfOther(part *jsonschema.Schema, name string) *jsonschema.Schema {
	for pattern, schema := range part.PatternProperties {
		if pattern.MatchString(name) {
			return schema
		}
	}
	others, _ := part.AdditionalProperties.(*jsonschema.Schema)
	return others
}

func (s *Schema) applyToItems(part *jsonschema.Schema, items []any) {
	for i, item := range items {
		if i < len(part.PrefixItems) {
			s.applyDefaults(part.PrefixItems[i], item)
		} else {
			s.applyDefaults(part.Items2020, item)
		}
	}
}

// readOnlyOf returns the schema that marks a property as the server's: its own, or one it
// refers to.
func readOnlyOf(s *jsonschema.Schema) (*jsonschema.Schema, bool) {
	for s != nil {
		if s.ReadOnly {
			return s, true
		}
		s = s.Ref
	}
	return nil, false
}

// setDefault sets a copy of the default, so that results do not share it.
func (s *Schema) setDefault(object map[string]any, name string, owner *jsonschema.Schema) {
	given := s.root.At(pointerOf(owner)).Get("default")
	if given == nil {
		delete(object, name)
		return
	}
	object[name] = given.decoded()
}

func (s *Schema) isReadOnly(property *Node) bool {
	for range 32 {
		if property.Get("readOnly").Is(true) {
			return true
		}
		ref := property.Get("$ref").Text()
		if ref == "" {
			break
		}
		property = s.referred(ref)
	}
	return false
}

func (s *Schema) withoutReadOnly(schema *Node) *Node {
	return schema.changed(func(keyword string, n *Node) *Node {
		switch {
		case schema == s.root && (keyword == "$schema" || keyword == "$id"):
			return nil
		case keyword == "$ref" && n.Text() != "": // $id is left out
			return &Node{line: n.line, value: s.local(n.Text())}
		case keyword == "required":
			return n.changed(func(_ string, name *Node) *Node {
				return s.unlessReadOnly(schema.Get("properties").Get(name.Text()), name)
			})
		case keyword == "properties":
			return n.changed(func(_ string, property *Node) *Node { return s.unlessReadOnly(property, s.withoutReadOnly(property)) })
		case slices.Contains(schemaKeywords, keyword):
			return s.withoutReadOnly(n)
		case slices.Contains(schemaLists, keyword), slices.Contains(schemaMaps, keyword):
			return n.changed(func(_ string, part *Node) *Node { return s.withoutReadOnly(part) })
		}
		return n
	})
}

func (s *Schema) unlessReadOnly(property, n *Node) *Node {
	if s.isReadOnly(property) {
		return nil
	}
	return n
}
