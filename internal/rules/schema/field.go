package schema

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// HasField reports whether the schema defines a field, directly or in a part that must
// hold.
func (s *Schema) HasField(name string) bool { return s.fieldAt(s.node, name) != nil }

// FieldFault returns why an input under the schema cannot have the field at path, names
// joined by dots; "" if it can. It follows the path as far as the schema describes the
// fields. A field that the schema neither defines nor excludes is most likely misspelt,
// unless the schema describes no fields at all.
func (s *Schema) FieldFault(path string) (message, hint string) {
	if s == nil {
		return "", "" // the errors of the schema itself are reported elsewhere
	}
	at := s.resolve(s.node)
	for field := range strings.SplitSeq(path, ".") {
		if holds := at.Get("type").Text(); holds != "" && holds != "object" {
			return "the input schema has no field " + field + " there: " + holds + " holds no fields", ""
		}
		next := s.fieldAt(at, field)
		if next == nil {
			if s.anyField(at) {
				return "", ""
			}
			return "the input schema has no field " + field, "It has: " + strings.Join(at.Get("properties").Names(), ", ") + "."
		}
		at = s.resolve(next)
	}
	return "", ""
}

// Parts returns a part of the schema and those that must hold with it, by reference or allOf.
func (s *Schema) Parts(at *Node) []*Node { return s.parts(at, nil) }

func (s *Schema) parts(at *Node, found []*Node) []*Node {
	if at == nil || slices.Contains(found, at) {
		return found
	}
	found = append(found, at)
	if ref := at.Get("$ref").Text(); ref != "" {
		found = s.parts(s.referred(ref), found)
	}
	for _, part := range at.Get("allOf").Items() {
		found = s.parts(part, found)
	}
	return found
}

func (s *Schema) fields(at *Node) (found []field) {
	for _, part := range s.parts(at, nil) {
		found = append(found, part.Get("properties").members()...)
	}
	return found
}

func (s *Schema) fieldAt(at *Node, name string) *Node {
	fields := s.fields(at)
	if i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); i >= 0 {
		return fields[i].node
	}
	return nil
}

// Field is a field that an object's schema defines.
type Field struct {
	Name, Title, Description string
	// Type and Format are empty if the schema names none, and Type also if it names several.
	Type, Format string
	Enum         []any
	Default      any // Nil if there is none.
	Required     bool
}

// Fields returns the fields that the schema defines, directly or in parts that must hold, in
// order.
func (s *Schema) Fields() (fields []Field) {
	if s == nil {
		return nil
	}
	var required []string
	for _, part := range s.parts(s.node, nil) {
		required = append(required, part.Get("required").Texts()...)
	}
	for _, f := range s.fields(s.node) {
		resolved := s.resolve(f.node)
		get := func(keyword string) *Node { return cmp.Or(f.node.Get(keyword), resolved.Get(keyword)) }
		one := Field{
			Name: f.name, Title: get("title").Text(), Description: get("description").Text(), Type: get("type").Text(),
			Format: get("format").Text(), Enum: get("enum").List(), Required: slices.Contains(required, f.name),
		}
		if n := get("default"); n != nil {
			one.Default = n.value
		}
		fields = append(fields, one)
	}
	return fields
}

// anyField reports whether a schema intends fields that it does not define.
func (s *Schema) anyField(at *Node) bool {
	if at.Get("additionalProperties").Is(false) {
		return false
	}
	for _, keyword := range []string{
		"additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "if", "dependentSchemas", "$ref",
	} {
		if at.Get(keyword) != nil {
			return true
		}
	}
	return at.Get("properties") == nil
}

// Bounds reports whether the schema leaves a text of the field at path, names joined by dots, no room
// for sentences: it is one of the author's own words, or a single word that a format or a pattern
// constrains.
func (s *Schema) Bounds(path, text string) bool {
	if s == nil {
		return false
	}
	at := s.resolve(s.node)
	for field := range strings.SplitSeq(path, ".") {
		at = s.resolve(s.fieldAt(at, field))
	}
	has := func(keyword string) bool { return at.Get(keyword) != nil }
	return has("enum") || has("const") || (has("format") || has("pattern")) && !strings.ContainsFunc(text, unicode.IsSpace)
}
