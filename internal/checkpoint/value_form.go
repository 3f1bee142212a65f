package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"ringback/internal/checkpoint/intent"
	"ringback/internal/job"
	"ringback/internal/schema"
)

// valueForm is a schema of values that a person gives: a flat object of strings, numbers and
// booleans, the subset that MCP elicitation uses.
type valueForm struct {
	schema *schema.Schema
	// order lists the properties in their original order.
	order      []string
	properties map[string]property
	required   []string
}

// property is one value of a form.
type property struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Enum        []any  `json:"enum"`
	Format      string `json:"format"`
}

var (
	formTypes   = []string{"string", "number", "integer", "boolean"}
	formFormats = []string{"", "email", "uri", "date", "date-time"}
)

func parseValueForm(source json.RawMessage) (*valueForm, []job.Detail) {
	const at = "/props/schema"
	var outline struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := job.UnmarshalExact(source, &outline); err != nil {
		return nil, []job.Detail{{Path: at, Message: "expected a JSON Schema of a flat object"}}
	}
	var details []job.Detail
	if outline.Type != "object" || len(outline.Properties) == 0 {
		details = append(details, job.Detail{Path: at, Message: `expected "type": "object" with at least one of "properties"`})
	}
	for name, p := range outline.Properties {
		place := at + "/properties/" + name
		if !slices.Contains(formTypes, p.Type) {
			details = append(details, job.Detail{Path: place + "/type", Message: fmt.Sprintf("found %q; allowed: string, number, integer, boolean", p.Type)})
		}
		if !slices.Contains(formFormats, p.Format) {
			details = append(details, job.Detail{Path: place + "/format", Message: fmt.Sprintf("found %q; allowed: email, uri, date, date-time", p.Format)})
		}
	}
	if details != nil {
		return nil, details
	}
	compiled, err := schema.New("schema", source)
	if err != nil {
		return nil, []job.Detail{{Path: at, Message: err.Error()}}
	}
	return &valueForm{schema: compiled, order: orderOf(source), properties: outline.Properties, required: outline.Required}, nil
}

// orderOf returns the names of the properties in the order of the source.
func orderOf(source json.RawMessage) []string {
	var whole struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(source, &whole) != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(whole.Properties))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var names []string
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		var skipped json.RawMessage
		if err != nil || !ok || dec.Decode(&skipped) != nil {
			break
		}
		names = append(names, name)
	}
	return names
}

func (f *valueForm) fields() []intent.Field {
	fields := make([]intent.Field, len(f.order))
	for i, name := range f.order {
		p := f.properties[name]
		fields[i] = intent.Field{Name: name, Type: p.Type, Enum: p.Enum, Required: slices.Contains(f.required, name)}
	}
	return fields
}
