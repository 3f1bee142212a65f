package job

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
)

// UnmarshalExact decodes JSON like [json.Unmarshal], with two exceptions. They prevent a decision about
// something other than what was shown or checked:
//
//   - Numbers without a fixed type become json.Number, which keeps all digits: as 64-bit floats,
//     account numbers that differ only in their last digit could become equal.
//   - A field is filled only from the last member with exactly its name, as schemas read it.
//     json.Unmarshal also accepts the name in another case, which no schema has checked.
//
// Use it for everything that Ringback has not written itself.
func UnmarshalExact(text []byte, into any) error {
	if json.Valid(text) {
		text = onlyExact(text, reflect.TypeOf(into))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the JSON value")
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// onlyExact returns valid JSON without those members of its objects that are not exactly named like a
// field of the type. The values of types with a method of their own are unchanged.
func onlyExact(text json.RawMessage, t reflect.Type) json.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return text
	}
	open := bytes.TrimLeft(text, " \t\r\n")[0]
	switch kind := t.Kind(); {
	case kind == reflect.Struct && open == '{':
		return exactMembers(text, FieldsOf(t))
	case kind == reflect.Map && open == '{' && isComposite(t.Elem()):
		members := map[string]json.RawMessage{}
		for name, value := range Members(text) {
			members[name] = onlyExact(value, t.Elem())
		}
		return marshalRaw(members)
	case (kind == reflect.Slice || kind == reflect.Array) && open == '[' && isComposite(t.Elem()):
		var items []json.RawMessage
		_ = json.Unmarshal(text, &items) // it is a valid array
		for i := range items {
			items[i] = onlyExact(items[i], t.Elem())
		}
		return marshalRaw(items)
	}
	return text
}

// exactMembers is onlyExact for an object.
func exactMembers(text json.RawMessage, fields map[string]reflect.Type) json.RawMessage {
	members := map[string]json.RawMessage{}
	for name, value := range Members(text) {
		if of, known := fields[name]; known {
			members[name] = onlyExact(value, of)
		}
	}
	return marshalRaw(members)
}

// isComposite reports whether values of a type may contain a struct.
func isComposite(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer:
		return true
	default:
		return false
	}
}

// marshalRaw returns the JSON of parts of JSON, which are unchanged except for white space.
func marshalRaw(parts any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(parts); err != nil {
		panic("job: " + err.Error()) // valid JSON can be encoded
	}
	return out.Bytes()
}

// FieldsOf returns the fields of a struct by their JSON names, with their types; none for any other
// type.
func FieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" && (name != "" || !f.Anonymous) {
			fields[cmp.Or(name, f.Name)] = f.Type
		}
	}
	return fields
}
