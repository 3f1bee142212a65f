package form

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
)

// Decode converts what was filled in to JSON. Empty values are left out. It does not validate
// against the schema; the faults are only values that are not JSON.
func (s *Schema) Decode(values url.Values) (json.RawMessage, []job.Detail) {
	s.start()
	d := decoder{s, values, nil}
	text, given := d.value(s.root, "", true, 0)
	if s.tooMuch() || values.Has(whole) {
		d.faults = nil
		text, given = d.written(whole, "")
	}
	if !given {
		text = json.RawMessage("{}")
	}
	return text, d.faults
}

type decoder struct {
	schema *Schema
	values url.Values
	faults []job.Detail
}

// value returns the value filled in for a part of a schema; false if there is none.
func (d *decoder) value(n *node, pointer string, required bool, depth int) (json.RawMessage, bool) {
	n = d.schema.resolve(n, pointer)
	branches := d.schema.branches(n)
	switch {
	case depth > deepest:
		return d.json(pointer)
	case n.Const != nil:
		if !required {
			return nil, false
		}
		return encode(n.Const), true
	case len(n.Enum) > 0:
		return d.choice(n, pointer)
	case choices(branches) != nil:
		return d.choice(choices(branches), pointer)
	case len(branches) > 0:
		return d.value(branches[chosenBranch(d.values, pointer, len(branches))], pointer, required, depth+1)
	}
	return d.plain(n, pointer, required, depth)
}

func (d *decoder) plain(n *node, pointer string, required bool, depth int) (json.RawMessage, bool) {
	text := d.values.Get("v" + pointer)
	switch n.typeOf() {
	case "object":
		return d.object(n, pointer, required, depth)
	case "array":
		return d.list(n, pointer, required, depth)
	case "string":
		// Browsers send CRLF as the line break.
		return encode(strings.ReplaceAll(text, "\r\n", "\n")), text != ""
	case "integer", "number":
		if text = strings.TrimSpace(text); text != "" && !isNumber(text) {
			return encode(text), true // validation against the schema reports it
		}
		return json.RawMessage(text), text != ""
	case "boolean":
		return json.RawMessage(text), text == "true" || text == "false"
	}
	return d.json(pointer)
}

// isNumber reports whether a text is a JSON number; its digits are kept.
func isNumber(text string) bool {
	var n json.Number
	return text[0] != '"' && json.Unmarshal([]byte(text), &n) == nil
}

// choice returns the chosen value as the schema contains it.
func (d *decoder) choice(n *node, pointer string) (json.RawMessage, bool) {
	text := d.values.Get("v" + pointer)
	if text == "" {
		return nil, false
	}
	return Listed(n.Enum, text), true
}

// Listed returns the value with the given text form. If there is none, it returns the text itself,
// which validation rejects.
func Listed(values []any, text string) json.RawMessage {
	at := slices.IndexFunc(values, func(v any) bool { return ValueText(v) == text })
	if at < 0 {
		return encode(text)
	}
	return encode(values[at])
}

func (d *decoder) object(n *node, pointer string, required bool, depth int) (json.RawMessage, bool) {
	if len(n.Properties.names) == 0 {
		return d.json(pointer)
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for _, name := range n.Properties.names {
		text, given := d.value(n.Properties.byName[name], pointer+job.Pointer(name), required && slices.Contains(n.Required, name), depth+1)
		if !given {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(encode(name))
		out.WriteByte(':')
		out.Write(text)
	}
	out.WriteByte('}')
	return out.Bytes(), required || out.Len() > 2
}

func (d *decoder) list(n *node, pointer string, required bool, depth int) (json.RawMessage, bool) {
	if n.Items == nil {
		return d.json(pointer)
	}
	item := d.schema.resolve(n.Items, pointer)
	if len(item.Enum) > 0 && n.Unique {
		var all []json.RawMessage
		for _, text := range d.values["v"+pointer] {
			all = append(all, Listed(item.Enum, text))
		}
		return encode(all), len(all) > 0
	}
	all := []json.RawMessage{}
	for i := range rows(d.values, pointer, n, required) {
		if text, given := d.value(n.Items, pointer+"/"+strconv.Itoa(i), true, depth+1); given {
			all = append(all, text)
		}
	}
	return encode(all), len(all) > 0 || required
}

// json returns the value that was written as JSON.
func (d *decoder) json(pointer string) (json.RawMessage, bool) {
	return d.written("v"+pointer, pointer)
}

// written returns the value that was written as JSON into a control.
func (d *decoder) written(control, pointer string) (json.RawMessage, bool) {
	text := strings.TrimSpace(d.values.Get(control))
	if text == "" {
		return nil, false
	}
	if !json.Valid([]byte(text)) {
		d.faults = append(d.faults, job.Detail{Path: pointer, Message: "is not valid JSON; put text in double quotes"})
		return nil, false
	}
	return json.RawMessage(text), true
}

func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}
