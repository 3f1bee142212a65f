package schema

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
)

// MaxDetails is the maximum number of errors reported for one payload.
const MaxDetails = 20

// Schema is a compiled JSON Schema (draft 2020-12, formats asserted). It is immutable, and
// so safe for concurrent use.
type Schema struct {
	source    json.RawMessage
	forClaude json.RawMessage
	root      *Node // the whole document, for references
	node      *Node // the part of it that is this schema
	anchors   map[string]*Node
	compiled  *jsonschema.Schema
	items     map[string]*Schema // schemas of the items of array properties
}

// New compiles a schema, which may only refer to its own parts. The error lists all
// problems with their lines; it uses name as the file name.
func New(name string, source []byte) (*Schema, error) {
	s, problems := compile(source)
	for i := range problems {
		problems[i].File = name
	}
	return s, Join(problems)
}

// JSON returns the schema's source; nil for a schema returned by Items.
func (s *Schema) JSON() json.RawMessage { return s.source }

// Root returns the whole document.
func (s *Schema) Root() *Node { return s.root }

// ForClaude returns the schema for Claude: compact, in its author's order, without the
// properties that belong to the server (see ApplyDefaults); nil for a schema returned by
// Items.
func (s *Schema) ForClaude() json.RawMessage { return s.forClaude }

// Items returns the schema of the items of an array property, for checking them before the
// whole list is available; false if the schema has no such array, or one whose items differ
// by position.
func (s *Schema) Items(property string) (*Schema, bool) {
	items, ok := s.items[property]
	return items, ok
}

func (s *Schema) itemSchemas() map[string]*Schema {
	schemas := map[string]*Schema{}
	for name, property := range target(s.compiled).Properties {
		compiled := target(property).Items2020
		array := s.resolve(s.resolve(s.node).Get("properties").Get(name))
		if target(property).PrefixItems != nil {
			continue // an item's schema depends on its position, which is unknown in a batch
		}
		if part := s.resolve(array.Get("items")); compiled != nil && part != nil {
			schemas[name] = &Schema{root: s.root, node: part, anchors: s.anchors, compiled: compiled}
		}
	}
	return schemas
}

// target follows the references of a compiled schema that has no other rules.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for s.Ref != nil && len(s.Properties) == 0 && s.Items2020 == nil {
		s = s.Ref
	}
	return s
}

func (s *Schema) resolve(n *Node) *Node {
	for range 32 { // a circular reference does not compile
		ref := n.Get("$ref").Text()
		if ref == "" {
			break
		}
		n = s.referred(ref)
	}
	return n
}

// local returns a reference without the document's own $id.
func (s *Schema) local(ref string) string {
	id := strings.TrimSuffix(s.root.Get("$id").Text(), "#")
	if fragment, ok := strings.CutPrefix(ref, id); ok && id != "" && (fragment == "" || fragment[0] == '#') {
		return "#" + strings.TrimPrefix(fragment, "#")
	}
	return ref
}

// referred returns the part that a reference refers to, by pointer or by anchor.
func (s *Schema) referred(ref string) *Node {
	fragment, ok := strings.CutPrefix(s.local(ref), "#")
	if !ok {
		return nil
	}
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		return s.root.At(plainPointer(fragment))
	}
	return s.anchors[fragment]
}

// Validate validates decoded JSON; its numbers must be json.Number. It returns errors that
// let the sender fix everything in one try: sorted by path, at most MaxDetails; nil if v is
// valid.
func (s *Schema) Validate(v any) []job.Detail {
	details := unusableNumbers(v)
	if details == nil {
		details = s.oversized(s.compiled, v)
	}
	if details == nil {
		details = s.faultsOf(v)
	}
	return firstDetails(details)
}

func (s *Schema) faultsOf(v any) []job.Detail {
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		e := explainer{schema: s, instance: v}
		e.walk(invalid)
		return e.details
	}
	return []job.Detail{{Message: "cannot be checked: " + strings.TrimPrefix(err.Error(), "jsonschema: ")}}
}

// DecodeArray decodes a JSON array for Validate.
func DecodeArray(text []byte) ([]any, error) {
	var list []any
	err := job.UnmarshalExact(text, &list)
	return list, err
}
