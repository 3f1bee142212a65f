package form

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"ringback/internal/job"
)

// Decode converts what was filled in to JSON: what the controls of the form show. Empty values are left
// out. It does not validate against the schema; the faults are only values that are not JSON.
func (s *Schema) Decode(values url.Values) (json.RawMessage, []job.Detail) {
	d := decoder{}
	text, given := d.value(s.Form(values, nil), true)
	if !given {
		text = json.RawMessage("{}")
	}
	return text, d.faults
}

type decoder struct {
	faults []job.Detail
}

func (d *decoder) value(f Field, required bool) (json.RawMessage, bool) {
	text, given := d.filled(f, required)
	if !given && f.Empty != "" {
		return json.RawMessage(f.Empty), true
	}
	return text, given
}

func (d *decoder) filled(f Field, required bool) (json.RawMessage, bool) {
	switch f.Control {
	case Object:
		return d.object(f.Fields, required)
	case List:
		return d.list(f.Fields, required)
	case Union:
		return d.value(f.Fields[0], required)
	case Constant:
		return job.MustJSON(f.constant), required
	case Select, Checks:
		return chosen(f)
	case JSON:
		return d.json(f.Pointer, strings.TrimSpace(f.Value))
	case Input, Area:
	}
	if number := strings.TrimSpace(f.Value); f.number && (number == "" || isNumber(number)) {
		return json.RawMessage(number), number != ""
	}
	return job.MustJSON(f.Value), f.Value != "" // validation against the schema reports text that is no number
}

// isNumber reports whether a text is a JSON number; its digits are kept.
func isNumber(text string) bool {
	var n json.Number
	return text[0] != '"' && json.Unmarshal([]byte(text), &n) == nil
}

// chosen returns the first value chosen, or a list of all for Checks.
func chosen(f Field) (json.RawMessage, bool) {
	all := []any{}
	for _, o := range f.Options {
		if o.Chosen && f.Control == Select {
			return job.MustJSON(o.value), true
		} else if o.Chosen {
			all = append(all, o.value)
		}
	}
	return job.MustJSON(all), len(all) > 0
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
		out.Write(job.MustJSON(f.property))
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
	return job.MustJSON(all), len(all) > 0 || required
}

func (d *decoder) json(pointer, text string) (json.RawMessage, bool) {
	if text != "" && !json.Valid([]byte(text)) {
		d.faults = append(d.faults, job.Detail{Path: pointer, Message: "is not valid JSON; put text in double quotes"})
		text = ""
	}
	return json.RawMessage(text), text != ""
}
