package kind

import (
	"encoding/json"
	"strings"
)

// Properties marked "readOnly" in a result schema belong to the server (JSON
// Schema validation, section 9.4): Claude is not shown them, and what it sends
// for them is replaced by their default.

// ApplyDefaults returns v with the server's own properties set to their
// defaults, wherever the schema has them. v itself is changed.
func (s *Schema) ApplyDefaults(v any) any {
	s.applyDefaults(s.node, v)
	return v
}

func (s *Schema) applyDefaults(schema, v any) {
	node := s.resolve(schema)
	switch value := v.(type) {
	case map[string]any:
		properties, _ := node["properties"].(map[string]any)
		for name, property := range properties {
			p := s.resolve(property)
			if p["readOnly"] == true {
				value[name] = p["default"]
			} else if inner, ok := value[name]; ok {
				s.applyDefaults(p, inner)
			}
		}
	case []any:
		for _, item := range value {
			s.applyDefaults(node["items"], item)
		}
	}
}

// resolve follows a reference to another part of the schema.
func (s *Schema) resolve(schema any) map[string]any {
	node, _ := schema.(map[string]any)
	for range 16 { // a schema that refers to itself in a circle does not compile
		ref, ok := node["$ref"].(string)
		if !ok {
			break
		}
		target, _ := lookup(s.root, strings.TrimPrefix(ref, "#")).(map[string]any)
		node = target
	}
	return node
}

// ForClaude returns the schema without the server's own properties, compact.
func (s *Schema) ForClaude() json.RawMessage {
	text, err := json.Marshal(withoutReadOnly(s.root))
	if err != nil {
		return s.source // it was decoded from JSON
	}
	return text
}

func withoutReadOnly(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for key, child := range v {
			if c, ok := child.(map[string]any); ok && c["readOnly"] == true {
				continue
			}
			if key == "$id" || key == "$schema" {
				continue
			}
			kept[key] = withoutReadOnly(child)
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, child := range v {
			kept[i] = withoutReadOnly(child)
		}
		return kept
	}
	return v
}
