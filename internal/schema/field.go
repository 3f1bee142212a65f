package schema

import (
	"cmp"
	"strings"
)

// HasField reports whether the schema names a field, itself or in a part that must
// hold.
func (s *Schema) HasField(name string) bool { return s.fieldAt(s.resolve(s.node), name) != nil }

// FieldFault says why an input under the schema cannot have the field at path, names
// joined by points; empty when it can. It follows the path as far as the schema says
// what there can be. A field that it neither names nor rules out is most likely a
// misspelt one, unless the schema says nothing of fields at all.
func (s *Schema) FieldFault(path string) (message, hint string) {
	if s == nil {
		return "", "" // what is wrong with the schema itself is told
	}
	at := s.resolve(s.node)
	for field := range strings.SplitSeq(path, ".") {
		if holds := at.get("type").text(); holds != "" && holds != "object" {
			return "the input schema has no field " + field + " there: " + holds + " holds no fields", ""
		}
		next := s.fieldAt(at, field)
		if next == nil {
			if s.anyField(at) {
				return "", ""
			}
			return "the input schema has no field " + field, "It has: " + strings.Join(at.get("properties").names(), ", ") + "."
		}
		at = s.resolve(next)
	}
	return "", ""
}

// fieldAt is the schema of a field, by a schema or one of those it is made of.
func (s *Schema) fieldAt(at *node, field string) *node {
	if found := at.get("properties").get(field); found != nil {
		return found
	}
	if all := at.get("allOf"); all != nil {
		for _, part := range all.items {
			if found := s.fieldAt(s.resolve(part), field); found != nil {
				return found
			}
		}
	}
	return nil
}

// Property is a field of an object: its name and the schema's title of it.
type Property struct{ Name, Title string }

// Properties lists the fields that a schema of an object names, in its order.
func (s *Schema) Properties() []Property {
	if s == nil {
		return nil
	}
	return s.properties(s.resolve(s.node), nil)
}

func (s *Schema) properties(at *node, found []Property) []Property {
	properties := at.get("properties")
	for _, name := range properties.names() {
		property := properties.get(name)
		found = append(found, Property{name, cmp.Or(property.get("title").text(), s.resolve(property).get("title").text())})
	}
	if all := at.get("allOf"); all != nil {
		for _, part := range all.items {
			found = s.properties(s.resolve(part), found)
		}
	}
	return found
}

// anyField reports whether a schema is made for fields that it does not name.
func (s *Schema) anyField(at *node) bool {
	if at.get("additionalProperties").is(false) {
		return false
	}
	for _, keyword := range []string{"additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "if", "dependentSchemas", "$ref"} {
		if at.get(keyword) != nil {
			return true
		}
	}
	return at.get("properties") == nil
}

// Bound is what a schema holds the text of a field to.
type Bound int

// The bounds, from the loosest.
const (
	Free   Bound = iota // any words
	Shaped              // a format or a pattern
	Listed              // one of its author's own words: enum, const
)

// TextBound says how free the text of the field at path is, names joined by points.
func (s *Schema) TextBound(path string) Bound {
	if s == nil {
		return Free
	}
	at := s.resolve(s.node)
	for field := range strings.SplitSeq(path, ".") {
		at = s.resolve(s.fieldAt(at, field))
	}
	switch {
	case at.get("enum") != nil, at.get("const") != nil:
		return Listed
	case at.get("format") != nil, at.get("pattern") != nil:
		return Shaped
	}
	return Free
}
