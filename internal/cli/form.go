package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"ringback/internal/job"
)

// field is one value that a question asks for: a property of the flat JSON Schema in its props, the
// subset that MCP elicitation uses ("Asking" in docs/people.md).
type field struct {
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	// Default is the value if none is given; nil means no default.
	Default  json.RawMessage `json:"default"`
	name     string
	required bool
}

// fieldsOf returns the values that a question asks for, in their original order. It returns none if
// the question asks for words.
func fieldsOf(c job.Checkpoint) []field {
	var props struct {
		Schema struct {
			Properties json.RawMessage `json:"properties"`
			Required   []string        `json:"required"`
		} `json:"schema"`
		CurrentValues map[string]json.RawMessage `json:"current_values"`
	}
	if json.Unmarshal(c.Props, &props) != nil {
		return nil
	}
	var fields []field
	for name, text := range members(props.Schema.Properties) {
		f := field{name: name, required: slices.Contains(props.Schema.Required, name)}
		if json.Unmarshal(text, &f) != nil {
			return nil // not a form this command knows: ask for words
		}
		if known, ok := props.CurrentValues[name]; ok {
			f.Default = known
		}
		fields = append(fields, f)
	}
	return fields
}

// members yields the members of a JSON object in their original order.
func members(object json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		dec := json.NewDecoder(bytes.NewReader(object))
		if _, err := dec.Token(); err != nil {
			return
		}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return
			}
			var value json.RawMessage
			text, isName := name.(string)
			if !isName || dec.Decode(&value) != nil || !yield(text, value) {
				return
			}
		}
	}
}

// label returns the field's title and description.
func (f field) label() string {
	label := cmp.Or(f.Title, f.name)
	if f.Description != "" {
		label += ": " + f.Description
	}
	return oneLine(label)
}

// choices returns the possible values as a person types them.
func (f field) choices() []string {
	if f.Type == "boolean" {
		return []string{"yes", "no"}
	}
	choices := make([]string, len(f.Enum))
	for i, value := range f.Enum {
		choices[i] = asTyped(value)
	}
	return choices
}

// asTyped returns a value as a person types it.
func asTyped(value json.RawMessage) string {
	var text string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return oneLine(text)
	case string(value) == "true":
		return "yes"
	case string(value) == "false":
		return "no"
	}
	return string(value)
}

// read converts typed text to a value. It reports only the mistakes that it can detect here; the
// server validates the rest.
func (f field) read(text string) (json.RawMessage, error) {
	switch {
	case f.Type == "boolean":
		return readYesNo(text)
	case len(f.Enum) > 0:
		for i, choice := range f.choices() {
			if strings.EqualFold(choice, text) {
				return f.Enum[i], nil
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

func readYesNo(text string) (json.RawMessage, error) {
	switch strings.ToLower(text) {
	case "y", "yes", "true":
		return json.RawMessage("true"), nil
	case "n", "no", "false":
		return json.RawMessage("false"), nil
	}
	return nil, usagef("Type yes or no")
}
