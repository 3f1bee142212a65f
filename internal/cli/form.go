package cli

import (
	"encoding/json"
	"strings"

	"ringback/internal/job"
	"ringback/internal/schema"
)

// field is one value that a question asks for. Its default is the value that is already known, if
// any.
type field struct{ schema.Field }

// fieldsOf returns the values that a question asks for ("Asking" in docs/people.md), in their
// original order. It returns none if the question asks for words.
func fieldsOf(c job.Checkpoint) []field {
	var props job.Props
	if job.UnmarshalExact(c.Props, &props) != nil {
		return nil
	}
	var fields []field
	for _, f := range schemaFields(props.Schema) {
		if known, ok := props.CurrentValues[f.Name]; ok {
			f.Default = known
		}
		if f.Type == "boolean" {
			f.Enum = []any{true, false}
		}
		fields = append(fields, field{f})
	}
	return fields
}

// schemaFields returns the fields of a schema; none if it cannot be read.
func schemaFields(source json.RawMessage) []schema.Field {
	s, _ := schema.New("", source)
	return s.Fields()
}

func (f field) label() string {
	label := job.FieldLabel(f.Title, f.Name)
	if f.Description != "" {
		label += ": " + f.Description
	}
	return oneLine(label)
}

// choices returns the possible values as a person types them.
func (f field) choices() []string {
	choices := make([]string, len(f.Enum))
	for i, value := range f.Enum {
		choices[i] = asTyped(value)
	}
	return choices
}

func asTyped(value any) string {
	switch value {
	case true:
		return "yes"
	case false:
		return "no"
	}
	return oneLine(job.ValueText(value))
}

// read converts typed text to a value. It reports only the mistakes that it can detect here; the
// server validates the rest.
func (f field) read(text string) (json.RawMessage, error) {
	switch {
	case len(f.Enum) > 0:
		exactly := func(a, b string) bool { return a == b }
		for _, equal := range []func(a, b string) bool{exactly, strings.EqualFold} { // MB is not Mb
			for i, choice := range f.choices() {
				short := f.Type == "boolean" && equal(choice[:1], text)
				if short || equal(choice, text) || equal(job.ValueText(f.Enum[i]), text) {
					return json.Marshal(f.Enum[i])
				}
			}
		}
		return nil, usagef("Choose one of: %s", strings.Join(f.choices(), " | "))
	case f.Type == "number" || f.Type == "integer":
		var n json.Number
		if json.Unmarshal([]byte(text), &n) != nil || text[0] == '"' || f.Type == "integer" && strings.ContainsAny(text, ".eE") {
			return nil, usagef("Type a number%s", map[bool]string{true: " without a fraction"}[f.Type == "integer"])
		}
		return json.RawMessage(text), nil
	}
	return json.Marshal(text)
}
