package kind

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/internal/job"
)

// MaxDetails is how many faults of one payload are told at once.
const MaxDetails = 20

// Schema is a compiled JSON Schema (draft 2020-12, formats asserted). It is
// safe for concurrent use.
type Schema struct {
	source   json.RawMessage
	root     map[string]any // the document, for messages that quote it
	node     any            // the part of it that is this schema
	compiled *jsonschema.Schema
	compiler *jsonschema.Compiler
	url      string
}

// NewSchema compiles a schema. It may refer to its own parts only.
func NewSchema(name string, source []byte) (*Schema, error) {
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	var root map[string]any
	if err := dec.Decode(&root); err != nil {
		return nil, err
	}
	s := &Schema{source: source, root: root, node: root, url: "ringback:///" + name, compiler: jsonschema.NewCompiler()}
	s.compiler.Draft = jsonschema.Draft2020
	s.compiler.AssertFormat = true
	s.compiler.LoadURL = func(ref string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("it refers to %s: a schema may refer to its own parts only", ref)
	}
	if err := s.compiler.AddResource(s.url, bytes.NewReader(source)); err != nil {
		return nil, err
	}
	var err error
	s.compiled, err = s.compiler.Compile(s.url)
	return s, err
}

// anyObject is the schema of kinds that bring none.
const anyObject = `{"type": "object"}`

// JSON returns the schema's source.
func (s *Schema) JSON() json.RawMessage { return s.source }

// Items returns the schema of the items of an array property; false when the
// schema has no such array.
func (s *Schema) Items(property string) (*Schema, bool) {
	properties, _ := s.root["properties"].(map[string]any)
	array, _ := properties[property].(map[string]any)
	items, ok := array["items"].(map[string]any)
	if !ok {
		return nil, false
	}
	compiled, err := s.compiler.Compile(s.url + "#/properties/" + property + "/items")
	if err != nil {
		return nil, false // it compiled as part of the whole
	}
	return &Schema{source: s.source, root: s.root, node: items, url: s.url, compiler: s.compiler, compiled: compiled}, true
}

// Validate checks decoded JSON, its numbers being json.Number. It returns what
// is wrong, worded so that the sender can mend all of it in one try; nil when
// nothing is.
func (s *Schema) Validate(v any) []job.Detail {
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []job.Detail{{Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
	}
	e := explainer{schema: s, instance: v, told: map[job.Detail]bool{}}
	e.walk(invalid)
	return e.details
}

// DecodeArray reads a JSON array as Validate wants it.
func DecodeArray(text []byte) ([]any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var list []any
	err := dec.Decode(&list)
	return list, err
}
