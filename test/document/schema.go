package document

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
	"ringback/internal/web/contract"
)

type schemas struct {
	all   contract.Schemas
	types map[string]reflect.Type
	// closed contains the schemas that reject unknown fields: those of requests.
	closed map[string]bool
	// faults contains what could not be described.
	faults []string
}

func newSchemas() *schemas {
	return &schemas{all: contract.Schemas{}, types: map[string]reflect.Type{}, closed: map[string]bool{}}
}

// openValues are named strings that may have values other than ours: clients must expect
// them.
var openValues = map[reflect.Type]bool{reflect.TypeFor[job.Code](): true, reflect.TypeFor[job.MessageType](): true}

// answer returns the schema of a response. Fields may be added to it later, so it allows
// unknown ones.
func (s *schemas) answer(v any) json.RawMessage { return s.reflect(v, false) }

// request returns the schema of a request, which rejects unknown fields.
func (s *schemas) request(v any) json.RawMessage { return s.reflect(v, true) }

func (s *schemas) reflect(v any, closed bool) json.RawMessage {
	r := jsonschema.Reflector{
		Anonymous: true, AllowAdditionalProperties: !closed, Mapper: s.mapped, Namer: s.name, LookupComment: commentOf,
	}
	root := r.Reflect(v)
	for name, definition := range root.Definitions {
		relax(definition, s.types[name])
		if s.all[name] == nil || closed && !s.closed[name] {
			s.all[name], s.closed[name] = s.text(definition), closed
		}
	}
	root.Definitions, root.Version = nil, ""
	return s.text(root)
}

func (s *schemas) text(schema *jsonschema.Schema) json.RawMessage {
	return bytes.ReplaceAll(job.MustJSON(schema), []byte(`"#/$defs/`), []byte(`"`+contract.Place))
}

func (s *schemas) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// names are the names of types that would be unclear by their own name outside their
// package.
var names = map[string]string{
	"api.runConfig": "NewRun", "job.Counts": "JobCounts", "checkpoint.Incoming": "NewMessage",
	"checkpoint.Reply": "NewReply",
}

func (s *schemas) name(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == "" || t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[json.RawMessage]() {
		return t.Name()
	}
	name := cmp.Or(names[keyOf(t)], capital(strings.TrimSuffix(plainName(t), "View")))
	if other, taken := s.types[name]; taken && other != t {
		s.fault("%s and %s are both called %s", keyOf(other), keyOf(t), name)
	}
	s.types[name] = t
	return name
}

// relax makes the fields of embedded pointers optional: they are all present or all absent.
func relax(schema *jsonschema.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		if !f.Anonymous || f.Type.Kind() != reflect.Pointer {
			continue
		}
		for inner := range f.Type.Elem().Fields() {
			schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool { return name == tagName(inner) })
		}
	}
}

// mapped returns the schema of a type if its JSON differs from its Go kind; nil for other
// types.
func (s *schemas) mapped(t reflect.Type) *jsonschema.Schema {
	switch {
	case t.Implements(reflect.TypeFor[selection]()):
		return s.selected(reflect.Zero(t).Interface().(selection).Of())
	case t == reflect.TypeFor[job.Seq]():
		return &jsonschema.Schema{Type: "string", Pattern: "^[0-9]{16}$"}
	case t.ConvertibleTo(reflect.TypeFor[time.Time]()) && t.Kind() == reflect.Struct:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	case t.Kind() == reflect.String && len(descriptions().Values[keyOf(t)]) > 0:
		name := s.name(t)
		s.all[name] = s.text(enumerated(t))
		return &jsonschema.Schema{Ref: contract.Place + name}
	}
	return nil
}

// selection is implemented by contract.Fields of any type.
type selection interface{ Of() any }

// selected returns the schema of a record without required fields.
func (s *schemas) selected(of any) *jsonschema.Schema {
	s.answer(of)
	name := s.name(reflect.TypeOf(of))
	schema := s.resolved(s.all[name])
	delete(schema, "required")
	s.all[name+"Fields"] = job.MustJSON(schema)
	return &jsonschema.Schema{Ref: contract.Place + name + "Fields"}
}

// enumerated returns the schema of a named string with all of its values.
func enumerated(t reflect.Type) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string"}
	var lines []string
	var values []any
	for _, value := range descriptions().Values[keyOf(t)] {
		values = append(values, value.Value)
		line := "- `" + value.Value + "`"
		if value.Comment != "" {
			line += ": " + strings.TrimPrefix(value.Comment, "is ")
		}
		lines = append(lines, line)
	}
	if openValues[t] {
		schema.Examples = values
		lines = append(lines, "\nMore may be added.")
	} else {
		schema.Enum = values
	}
	schema.Description = strings.Join(lines, "\n")
	return schema
}

func ref(name string) object { return object{"$ref": contract.Place + name} }

func (s *schemas) joined(one, other json.RawMessage) object { return s.all.Joined(one, other) }

func (s *schemas) resolved(text json.RawMessage) object { return s.all.Resolved(text) }

// text returns a part of a document in JSON.
func text(part any) json.RawMessage {
	written, err := contract.Written(part)
	if err != nil {
		panic("document: " + err.Error()) // it consists of schemas and texts
	}
	return written
}

// written returns a document, unless something could not be described.
func (s *schemas) written(d contract.Document) ([]byte, error) {
	if len(s.faults) > 0 {
		return nil, errors.New(strings.Join(s.faults, "\n"))
	}
	return contract.Written(d)
}

var reference = lazy.Regexp(`"` + regexp.QuoteMeta(contract.Place) + `([^"/]+)`)

// prune removes the schemas that these parts of the document do not refer to, directly or
// indirectly, and makes the others plain.
func (s *schemas) prune(parts ...any) {
	used := map[string]bool{}
	var follow func(part any)
	follow = func(part any) {
		for _, match := range reference().FindAllSubmatch(job.MustJSON(part), -1) {
			if name := string(match[1]); !used[name] {
				used[name] = true
				follow(s.all[name])
			}
		}
	}
	for _, part := range parts {
		follow(part)
	}
	maps.DeleteFunc(s.all, func(name string, _ json.RawMessage) bool { return !used[name] })
	for name, text := range s.all {
		var schema any
		if err := job.UnmarshalExact(text, &schema); err != nil {
			s.fault("%s: %v", name, err)
		}
		if plain := contract.Plain(schema); !reflect.DeepEqual(plain, schema) {
			s.all[name] = job.MustJSON(plain)
		}
	}
	for name := range used {
		if s.all[name] == nil {
			s.fault("there is no schema %s", name)
		}
	}
}
