package form

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"ringback/internal/job"
)

// Decode converts what was filled in to JSON. Empty values are left out. It does not validate
// against the schema; the faults are only values that are not JSON.
func (s *Schema) Decode(values url.Values) (json.RawMessage, []job.Detail) {
	d := decoder{values: values}
	text, given := d.value(s.Form(values, nil), true)
	if !given {
		text = json.RawMessage("{}")
	}
	return text, d.faults
}

type decoder struct {
	values url.Values
	faults []job.Detail
}

// value returns the value filled in for a field; false if there is none.
func (d *decoder) value(f Field, required bool) (json.RawMessage, bool) {
	text := d.values.Get(f.Name)
	switch f.Control {
	case Object:
		return d.object(f.Fields, required)
	case List:
		return d.list(f.Fields, required)
	case Union:
		return d.value(f.Fields[0], required)
	case Constant:
		return encode(f.values[0]), required
	case Select:
		return listed(f.values, text), text != ""
	case Checks:
		all := []json.RawMessage{}
		for _, text := range d.values[f.Name] {
			all = append(all, listed(f.values, text))
		}
		return encode(all), len(all) > 0
	case JSON:
		return d.json(f.Pointer, strings.TrimSpace(text))
	case Input, Area:
	}
	if number := strings.TrimSpace(text); f.Type == "number" && (number == "" || isNumber(number)) {
		return json.RawMessage(number), number != ""
	}
	// Browsers send CRLF as the line break. Validation against the schema reports text that is no number.
	return encode(strings.ReplaceAll(text, "\r\n", "\n")), text != ""
}

// isNumber reports whether a text is a JSON number; its digits are kept.
func isNumber(text string) bool {
	var n json.Number
	return text[0] != '"' && json.Unmarshal([]byte(text), &n) == nil
}

// listed returns the value with the given text form. If there is none, it returns the text itself,
// which validation rejects.
func listed(values []any, text string) json.RawMessage {
	at := slices.IndexFunc(values, func(v any) bool { return job.ValueText(v) == text })
	if at < 0 {
		return encode(text)
	}
	return encode(values[at])
}

func (d *decoder) object(fields []Field, required bool) (json.RawMessage, bool) {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, f := range fields {
		text, given := d.value(f, required && f.Required)
		if !given {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(encode(f.property))
		out.WriteByte(':')
		out.Write(text)
	}
	out.WriteByte('}')
	return out.Bytes(), required || out.Len() > 2
}

func (d *decoder) list(rows []Field, required bool) (json.RawMessage, bool) {
	all := []json.RawMessage{}
	for _, row := range rows {
		if text, given := d.value(row, true); given {
			all = append(all, text)
		}
	}
	return encode(all), len(all) > 0 || required
}

// json returns the value that was written as JSON.
func (d *decoder) json(pointer, text string) (json.RawMessage, bool) {
	if text != "" && !json.Valid([]byte(text)) {
		d.faults = append(d.faults, job.Detail{Path: pointer, Message: "is not valid JSON; put text in double quotes"})
		text = ""
	}
	return json.RawMessage(text), text != ""
}

func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}
