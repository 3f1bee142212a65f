package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
)

// MaxDetails is how many faults of one payload are told at once.
const MaxDetails = 20

// Schema is a compiled JSON Schema (draft 2020-12, formats asserted). It does
// not change, so it is safe for concurrent use.
type Schema struct {
	source    json.RawMessage
	forClaude json.RawMessage
	root      *node // the whole document, which references lead into
	node      *node // the part of it that is this schema
	compiled  *jsonschema.Schema
	items     map[string]*Schema // of the properties that are arrays
}

// New compiles a schema, which may refer to its own parts only. name stands for the
// file in the error, which tells all problems with their lines.
func New(name string, source []byte) (*Schema, error) {
	s, problems := compile(source)
	for i := range problems {
		problems[i].File = name
	}
	return s, Join(problems)
}

// JSON returns the schema's source. For the schema of Items it is that part,
// with the definitions of the whole.
func (s *Schema) JSON() json.RawMessage { return s.source }

// ForClaude returns the schema as Claude is shown it: compact, in its author's
// order, without the properties that belong to the server (see ApplyDefaults).
func (s *Schema) ForClaude() json.RawMessage { return s.forClaude }

// Items returns the schema of the items of an array property, so that they can
// be checked before the whole is there; false when the schema has no such array,
// or one whose items differ by their place.
func (s *Schema) Items(property string) (*Schema, bool) {
	items, ok := s.items[property]
	return items, ok
}

// itemSchemas makes the schemas that Items returns.
func (s *Schema) itemSchemas() map[string]*Schema {
	schemas := map[string]*Schema{}
	for name, property := range target(s.compiled).Properties {
		compiled := target(property).Items2020
		array := s.resolve(s.resolve(s.node).get("properties").get(name))
		if target(property).PrefixItems != nil {
			continue // an item's schema depends on its place, which a batch does not know
		}
		if part := s.resolve(array.get("items")); compiled != nil && part != nil {
			schemas[name] = &Schema{
				root: s.root, node: part, compiled: compiled,
				source:    written(withDefinitions(part, s.root)),
				forClaude: written(withDefinitions(s.withoutReadOnly(part), s.withoutReadOnly(s.root))),
			}
		}
	}
	return schemas
}

// target follows the references of a compiled schema that holds nothing itself.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for s.Ref != nil && len(s.Properties) == 0 && s.Items2020 == nil {
		s = s.Ref
	}
	return s
}

func withDefinitions(part, root *node) *node {
	definitions := root.get("$defs")
	if definitions == nil || part.get("$defs") != nil || len(part.fields) == 0 {
		return part
	}
	return &node{value: part.value, fields: append([]field{{"$defs", definitions}}, part.fields...)}
}

func written(n *node) json.RawMessage {
	var out bytes.Buffer
	n.appendJSON(&out)
	return out.Bytes()
}

// resolve follows a node's references to other parts of the document.
func (s *Schema) resolve(n *node) *node {
	for range 32 { // one that refers to itself in a circle does not compile
		ref := n.get("$ref").text()
		if ref == "" {
			break
		}
		n = s.referred(ref)
	}
	return n
}

// referred finds the part that a reference names, by pointer or by anchor.
func (s *Schema) referred(ref string) *node {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		return s.root.at(plainPointer(fragment))
	}
	var found *node
	s.root.walk(func(_ string, n *node) bool {
		if n.get("$anchor").is(fragment) {
			found = n
		}
		return found == nil
	})
	return found
}

// Validate checks decoded JSON, its numbers being json.Number. It returns what
// is wrong, worded so that the sender can mend all of it in one try: sorted by
// place, at most MaxDetails, nil when nothing is.
func (s *Schema) Validate(v any) []job.Detail {
	if isSuspect(v) {
		if details := unusableNumbers("", v, nil); details != nil {
			return details
		}
		if details := s.oversized(s.compiled, "", v, nil); details != nil {
			sortDetails(details)
			return details
		}
	}
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return explain(s, v, invalid)
	}
	return []job.Detail{{Message: "cannot be checked: " + strings.TrimPrefix(err.Error(), "jsonschema: ")}}
}

// isSuspect reports whether a value holds a number that unusableNumbers might refuse, or an array that
// oversized might: both say where, which costs more than looking whether there is any.
func isSuspect(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return !usable(v.String())
	case map[string]any:
		for _, value := range v {
			if isSuspect(value) {
				return true
			}
		}
	case []any:
		return len(v) > manyItems || slices.ContainsFunc(v, isSuspect)
	}
	return false
}

// DecodeArray reads a JSON array as Validate wants it.
func DecodeArray(text []byte) ([]any, error) {
	var list []any
	err := job.UnmarshalExact(text, &list)
	return list, err
}
