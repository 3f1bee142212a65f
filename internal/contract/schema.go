package contract

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"ringback/internal/job"
	"ringback/internal/lazy"
)

// place is where the schemas of a document stand.
const place = "#/components/schemas/"

// schemas collects those of one document.
type schemas struct {
	all   map[string]json.RawMessage
	types map[string]reflect.Type
	// closed are those that refuse a field they do not know: what requests hold.
	closed map[string]bool
	// faults are what could not be described.
	faults []string
}

func newSchemas() *schemas {
	return &schemas{all: map[string]json.RawMessage{}, types: map[string]reflect.Type{}, closed: map[string]bool{}}
}

// openValues are named strings that may have values beside ours: whoever reads them must
// expect others.
var openValues = map[reflect.Type]bool{reflect.TypeFor[job.Code](): true, reflect.TypeFor[job.MessageType](): true}

// answer is the schema of what is answered. Fields may be added to it later, so it is open.
func (s *schemas) answer(v any) json.RawMessage { return s.reflect(v, false) }

// request is the schema of what is asked: fields that it does not know are refused.
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

// text is a schema as it stands in a document.
func (s *schemas) text(schema *jsonschema.Schema) json.RawMessage {
	text, err := json.Marshal(schema)
	if err != nil {
		s.fault("%v", err)
	}
	return bytes.ReplaceAll(text, []byte(`"#/$defs/`), []byte(`"`+place))
}

func (s *schemas) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// names are those of types whose own name says too little outside of their package.
var names = map[string]string{
	"api.runConfig": "NewRun", "checkpoint.Incoming": "NewMessage", "checkpoint.Reply": "NewReply", "hub.outgoing": "FrameAnswer",
}

// name is what a type is called in a document.
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

// relax makes the fields of embedded pointers optional: they are there together or not at
// all.
func relax(schema *jsonschema.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		if !f.Anonymous || f.Type.Kind() != reflect.Pointer {
			continue
		}
		for inner := range f.Type.Elem().Fields() {
			name, _, _ := strings.Cut(inner.Tag.Get("json"), ",")
			schema.Required = slices.DeleteFunc(schema.Required, func(other string) bool { return other == name })
		}
	}
}

// mapped is the schema of a type whose JSON its Go kind does not tell; nil for others.
func (s *schemas) mapped(t reflect.Type) *jsonschema.Schema {
	switch {
	case t.Implements(reflect.TypeFor[selection]()):
		return s.selected(reflect.Zero(t).Interface().(selection).of())
	case t == reflect.TypeFor[job.Seq]():
		return &jsonschema.Schema{Type: "string", Pattern: "^[0-9]{16}$"}
	case t.ConvertibleTo(reflect.TypeFor[time.Time]()) && t.Kind() == reflect.Struct:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	case t.Kind() == reflect.String && len(descriptions().Values[keyOf(t)]) > 0:
		name := s.name(t)
		s.all[name] = s.text(enumerated(t))
		return &jsonschema.Schema{Ref: place + name}
	}
	return nil
}

// Fields stands for a record of which only some fields may be there.
type Fields[T any] struct{}

func (Fields[T]) of() any { return *new(T) }

// selection is Fields of anything.
type selection interface{ of() any }

// selected is the schema of a record of which no field has to be there.
func (s *schemas) selected(of any) *jsonschema.Schema {
	s.answer(of)
	name := s.name(reflect.TypeOf(of))
	schema := s.resolved(s.all[name])
	delete(schema, "required")
	s.put(name+"Fields", schema)
	return &jsonschema.Schema{Ref: place + name + "Fields"}
}

// enumerated is the schema of a named string with all of its values.
func enumerated(t reflect.Type) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string"}
	var lines []string
	for _, value := range descriptions().Values[keyOf(t)] {
		schema.Enum = append(schema.Enum, value.Value)
		line := "- `" + value.Value + "`"
		if value.Comment != "" {
			line += ": " + value.Comment
		}
		lines = append(lines, line)
	}
	if openValues[t] {
		schema = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{schema, {Type: "string"}}}
		lines = append(lines, "\nOthers may come.")
	}
	schema.Description = strings.Join(lines, "\n")
	return schema
}

// kinds adds the schemas of the kinds.
func (s *schemas) kinds(kinds []Kind) {
	for _, k := range kinds {
		s.embed(k.Name+".input", k.Input)
		s.embed(k.Name+".result", k.Result)
		for _, a := range k.Actions {
			s.embed(k.Name+".action."+a.Name, a.Input)
		}
	}
}

// embed adds a schema of somebody's own, which is a document by itself: what it refers to
// stands elsewhere now.
func (s *schemas) embed(name string, source json.RawMessage) {
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	var schema any
	if err := dec.Decode(&schema); err != nil {
		s.fault("%s: %v", name, err)
		return
	}
	moved(schema, place+name)
	if root, ok := schema.(object); ok {
		delete(root, "$schema")
		delete(root, "$id")
	}
	text, err := json.Marshal(schema)
	if err != nil {
		s.fault("%s: %v", name, err)
	}
	s.all[name] = text
}

// moved lets all references within a schema begin at its new place.
func moved(schema any, to string) {
	switch schema := schema.(type) {
	case object:
		if ref, ok := schema["$ref"].(string); ok && (ref == "#" || strings.HasPrefix(ref, "#/")) { // an anchor is found wherever it stands
			schema["$ref"] = to + strings.TrimPrefix(ref, "#")
		}
		for name, child := range schema {
			named, isObject := child.(object)
			switch {
			case isObject && slices.Contains(byName, name):
				moved(slices.Collect(maps.Values(named)), to)
			case !slices.Contains(data, name):
				moved(child, to)
			}
		}
	case []any:
		for _, child := range schema {
			moved(child, to)
		}
	}
}

// What keywords of JSON Schema hold that is no schema itself: schemas by names of
// somebody's own, and data.
var (
	byName = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	data   = []string{"const", "enum", "default", "examples"}
)

// ref refers to a schema by its name.
func ref(name string) object { return object{"$ref": place + name} }

// joined is an object's schema with the fields of another, where it has no such field.
func (s *schemas) joined(one, other json.RawMessage) object {
	a, b := s.resolved(one), s.resolved(other)
	properties := object{}
	for _, from := range []object{b, a} {
		of, _ := from["properties"].(object)
		maps.Copy(properties, of)
	}
	all := maps.Clone(b)
	delete(all, "description")
	delete(all, "$defs") // they stand with the other one, where all references lead
	maps.Copy(all, a)
	all["properties"] = properties
	required := slices.Concat(list(a["required"]), list(b["required"]))
	delete(all, "required")
	if len(required) > 0 {
		all["required"] = required
	}
	return all
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// resolved is an object's schema itself, where it is referred to.
func (s *schemas) resolved(text json.RawMessage) object {
	var schema object
	if err := json.Unmarshal(text, &schema); err != nil {
		s.fault("%v", err)
		return object{}
	}
	if name, ok := schema["$ref"].(string); ok {
		return s.resolved(s.all[strings.TrimPrefix(name, place)])
	}
	return schema
}

var reference = lazy.Regexp(`"` + regexp.QuoteMeta(place) + `([^"/]+)`)

// prune removes the schemas to which nothing leads from these parts of the document.
func (s *schemas) prune(parts ...any) {
	used := map[string]bool{}
	var follow func(part any)
	follow = func(part any) {
		text, err := json.Marshal(part)
		if err != nil {
			s.fault("%v", err)
		}
		for _, match := range reference().FindAllSubmatch(text, -1) {
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
	for name := range used {
		if s.all[name] == nil {
			s.fault("there is no schema %s", name)
		}
	}
}
