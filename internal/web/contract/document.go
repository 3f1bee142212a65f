package contract

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
)

//go:embed openapi.json
var openAPI []byte

//go:embed asyncapi.json
var asyncAPI []byte

// OpenAPI returns the HTTP endpoints of a server with these kinds as an OpenAPI document, version 3.1.
func OpenAPI(kinds []Kind) ([]byte, error) { return withKinds(openAPI, kinds) }

// AsyncAPI returns the WebSocket of a server with these kinds as an AsyncAPI document, version 3.0.
func AsyncAPI(kinds []Kind) ([]byte, error) { return withKinds(asyncAPI, kinds) }

// Document is an OpenAPI or AsyncAPI document.
type Document struct {
	OpenAPI    string          `json:"openapi,omitempty"`
	AsyncAPI   string          `json:"asyncapi,omitempty"`
	Info       json.RawMessage `json:"info"`
	Servers    json.RawMessage `json:"servers"`
	Tags       json.RawMessage `json:"tags,omitempty"`
	Kinds      []any           `json:"x-kinds"`
	Paths      json.RawMessage `json:"paths,omitempty"`
	Channels   json.RawMessage `json:"channels,omitempty"`
	Operations json.RawMessage `json:"operations,omitempty"`
	Components struct {
		Responses       json.RawMessage `json:"responses,omitempty"`
		Schemas         Schemas         `json:"schemas"`
		SecuritySchemes json.RawMessage `json:"securitySchemes,omitempty"`
	} `json:"components"`
}

// The bodies that depend on a server's kinds: in the embedded documents, each of these names a schema with its other
// fields, and is in place of the body's schema.
const (
	// ByKind is the body in which the field kind decides about the field input.
	ByKind = "@by kind"
	// WithInput is the body with the fields of the input of SuggestionsKind.
	WithInput = "@with input"
	// SuggestionsKind is the kind of WithInput, and of the jobs that POST /api/suggestions creates.
	SuggestionsKind = "meal-suggestions"
)

func withKinds(base []byte, kinds []Kind) ([]byte, error) {
	var d Document
	if err := json.Unmarshal(base, &d); err != nil {
		return nil, err
	}
	schemas := Schemas{}
	if d.Components.Schemas != nil {
		schemas = d.Components.Schemas
	}
	for _, k := range kinds {
		if err := schemas.add(k); err != nil {
			return nil, err
		}
		d.Kinds = append(d.Kinds, describe(k))
	}
	if d.Paths != nil {
		for body, schema := range map[string]object{
			ByKind: schemas.byKind(kinds), WithInput: schemas.Joined(schemas[WithInput], schemas[SuggestionsKind+".input"]),
		} {
			delete(schema, "description")
			text, err := Written(schema)
			if err != nil {
				return nil, err
			}
			d.Paths = bytes.ReplaceAll(d.Paths, job.MustJSON(body), text)
			delete(schemas, body)
		}
	}
	return Written(d)
}

// Written returns a document as text.
func Written(document any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	return out.Bytes(), err
}

// describe returns a kind with references to its schemas.
func describe(k Kind) object {
	entry := object{
		"name": k.Name, "description": k.Description, "events": k.Events, "input": ref(k.Name + ".input"),
		"result": ref(k.Name + ".result"),
	}
	actions := object{}
	for _, a := range k.Actions {
		actions[a.Name] = ref(k.Name + ".action." + a.Name)
	}
	if len(actions) > 0 {
		entry["actions"] = actions
	}
	return entry
}

// byKind returns the schema of a request for a job: the schema of its input depends on its
// kind.
func (s Schemas) byKind(kinds []Kind) object {
	each, mapping := []object{}, object{}
	for _, k := range kinds {
		name := "NewJob." + k.Name
		s[name] = job.MustJSON(object{
			"title": k.Name, "description": k.Description,
			"allOf": []any{s[ByKind], object{"properties": object{"kind": object{"const": k.Name}, "input": ref(k.Name + ".input")}}},
		})
		each, mapping[k.Name] = append(each, ref(name)), Place+name
	}
	return object{"oneOf": each, "discriminator": object{"propertyName": "kind", "mapping": mapping}}
}

// Place is the prefix of references to the schemas of a document.
const Place = "#/components/schemas/"

type object = map[string]any

// Schemas are the schemas of a document, by name.
type Schemas map[string]json.RawMessage

// add adds the schemas of a kind.
func (s Schemas) add(k Kind) error {
	all := map[string]json.RawMessage{k.Name + ".input": k.Input, k.Name + ".result": k.Result}
	for _, a := range k.Actions {
		all[k.Name+".action."+a.Name] = a.Input
	}
	for name, source := range all {
		if err := s.embed(name, source); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// embed adds a kind's schema, which was a document by itself, and adapts its references.
func (s Schemas) embed(name string, source json.RawMessage) error {
	var schema any
	if err := job.UnmarshalExact(source, &schema); err != nil {
		return err
	}
	referred := map[string]bool{}
	moved(schema, Place+name, referred)
	if root, ok := schema.(object); ok {
		delete(root, "$schema")
		delete(root, "$id")
		definitions, _ := root["$defs"].(object)
		for inner, definition := range definitions {
			if referred[inner] {
				s[name+"."+inner] = job.MustJSON(Plain(definition))
				delete(definitions, inner)
			}
		}
		if len(definitions) == 0 {
			delete(root, "$defs")
		}
	}
	s[name] = job.MustJSON(Plain(schema))
	return nil
}

// isName matches the names that schemas of a document may have.
var isName = lazy.Regexp(`^[A-Za-z0-9._-]+$`)

// moved prefixes all references within a schema with its new location. A definition that it refers to is
// to become a separate schema, because generators of clients follow no longer references.
func moved(schema any, to string, referred map[string]bool) {
	switch schema := schema.(type) {
	case object:
		if ref, ok := schema["$ref"].(string); ok && (ref == "#" || strings.HasPrefix(ref, "#/")) { // not an anchor
			schema["$ref"] = to + strings.TrimPrefix(ref, "#")
			below, _ := strings.CutPrefix(ref, "#/$defs/")
			if inner, _, _ := strings.Cut(below, "/"); below != ref && isName().MatchString(inner) {
				schema["$ref"], referred[inner] = to+"."+below, true
			}
		}
		for name, child := range schema {
			named, isObject := child.(object)
			switch {
			case isObject && slices.Contains(byName, name):
				moved(slices.Collect(maps.Values(named)), to, referred)
			case !slices.Contains(data, name):
				moved(child, to, referred)
			}
		}
	case []any:
		for _, child := range schema {
			moved(child, to, referred)
		}
	}
}

// Keywords of JSON Schema with values that are not schemas: maps of schemas by name, and
// data.
var (
	byName = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	data   = []string{"const", "enum", "default", "examples"}
)

func ref(name string) object { return object{"$ref": Place + name} }

// Joined merges the fields of other into an object's schema; fields of one take precedence.
func (s Schemas) Joined(one, other json.RawMessage) object {
	a, b := s.Resolved(one), s.Resolved(other)
	properties := object{}
	for _, from := range []object{b, a} {
		of, _ := from["properties"].(object)
		maps.Copy(properties, of)
	}
	all := maps.Clone(b)
	delete(all, "description")
	delete(all, "$defs") // references lead to the original's definitions
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

// Resolved returns an object's schema after following references; an empty one for any that is not an object.
func (s Schemas) Resolved(text json.RawMessage) object {
	schema := object{}
	if json.Unmarshal(text, &schema) != nil {
		return object{}
	}
	if name, ok := schema["$ref"].(string); ok {
		return s.Resolved(s[strings.TrimPrefix(name, Place)])
	}
	return schema
}

// Generators of clients read most of JSON Schema, but refuse a whole document for what they do not
// know. Plain and its parts rewrite such schemas to others that mean the same.

// Plain returns a schema without true and false in the place of schemas, and without several types
// other than null.
func Plain(schema any) any {
	switch schema := schema.(type) {
	case bool:
		if schema {
			return object{}
		}
		return object{"not": object{}}
	case object:
		plain := maps.Clone(schema)
		for name, child := range schema {
			plain[name] = plainChild(name, child)
		}
		return typed(oneType(plain))
	}
	return schema
}

func plainChild(keyword string, value any) any {
	named, isObject := value.(object)
	list, isList := value.([]any)
	_, isBool := value.(bool)
	switch {
	case slices.Contains(data, keyword), isBool && !slices.Contains(schemaValued, keyword):
		return value
	case isObject && slices.Contains(byName, keyword):
		plain := object{}
		for name, child := range named {
			plain[name] = Plain(child)
		}
		return plain
	case isObject, isBool:
		return Plain(value)
	case isList && keyword != "type":
		plain := make([]any, len(list))
		for i, child := range list {
			plain[i] = Plain(child)
		}
		return plain
	}
	return value
}

// schemaValued are the keywords with a schema as their value that may not be true or false in a plain
// schema. Generators know these values of additionalProperties.
var schemaValued = []string{"items", "contains", "not", "if", "then", "else", "propertyNames"}

// ofType are the keywords that apply to values of one type.
var ofType = map[string][]string{
	"object": {
		"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties",
		"dependentRequired", "dependentSchemas",
	},
	"array":  {"items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"},
	"string": {"minLength", "maxLength", "pattern", "format"},
}

// oneType turns several types into alternatives, each with the keywords that apply to it.
func oneType(schema object) object {
	types := list(schema["type"])
	if len(types) < 2 || len(types) == 2 && slices.Contains(types, any("null")) {
		return schema
	}
	var alternatives []any
	delete(schema, "type")
	for _, name := range types {
		one := object{"type": name}
		of, _ := name.(string)
		for _, keyword := range ofType[of] {
			if value, set := schema[keyword]; set {
				one[keyword] = value
				delete(schema, keyword)
			}
		}
		alternatives = append(alternatives, one)
	}
	keyword := "oneOf" // which more generators know than anyOf
	if slices.Contains(types, any("number")) && slices.Contains(types, any("integer")) {
		keyword = "anyOf"
	}
	if _, taken := schema[keyword]; taken {
		schema["allOf"] = append(list(schema["allOf"]), object{keyword: alternatives})
	} else {
		schema[keyword] = alternatives
	}
	return schema
}

// typed gives a list of texts their type: some generators accept a default only with it.
func typed(schema object) object {
	isOther := func(value any) bool { _, isText := value.(string); return !isText }
	if values := list(schema["enum"]); schema["type"] == nil && len(values) > 0 && !slices.ContainsFunc(values, isOther) {
		schema["type"] = "string"
	}
	return schema
}
