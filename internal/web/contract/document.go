package contract

import (
	"bytes"
	_ "embed"
	"encoding/json"

	"ringback/internal/job"
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
