package strictjson

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/spelling"
)

// Into decodes an object into a struct. Errors name unknown fields and wrong types; numbers
// keep their digits if the struct's field has type any.
func Into(object map[string]any, into any) error {
	if wrong := wrongFields(object, reflect.TypeOf(into)); len(wrong) > 0 {
		return job.Errorf(job.Invalid, "Invalid request").WithDetails(wrong...)
	}
	dec := json.NewDecoder(bytes.NewReader(job.MustJSON(takeObjects(object, reflect.ValueOf(into).Elem()))))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return job.Errorf(job.Invalid, "Invalid request").WithHint("%v", err)
	}
	return nil
}

// takeObjects puts those members that are objects of any kind, such as the input of a tool, into their fields,
// and returns the others: such an object is large, and is what encoding and decoding it again would return.
func takeObjects(object map[string]any, into reflect.Value) map[string]any {
	others := maps.Clone(object)
	for name, field := range job.FieldsOf(into.Type()) {
		if value, ok := object[name].(map[string]any); ok && field.Type == reflect.TypeOf(value) && len(field.Index) == 1 {
			into.FieldByIndex(field.Index).Set(reflect.ValueOf(value))
			delete(others, name)
		}
	}
	return others
}

// KnownInto is Into for an object in a format defined by others: fields that the struct
// does not have are ignored.
func KnownInto(object map[string]any, into any) error {
	known := map[string]any{}
	for name := range job.FieldsOf(reflect.TypeOf(into).Elem()) {
		if value, present := object[name]; present {
			known[name] = value
		}
	}
	return Into(known, into)
}

// wrongFields returns what is wrong with a value, in sorted order: each part that does not fit the
// type. It may be a key that is not a field, a value of another type, or an empty string although the
// field has a named string type such as job.Decision. Unlike in encoding/json, the case of keys
// matters: two parsers of one body must not read it differently. Named strings are never empty; to
// omit one, leave the field out. A null field counts as left out, but null is not accepted as an item
// of a list or a value of a map.
func wrongFields(value any, t reflect.Type) []job.Detail {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Interface || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	found, expected := typeName(value), expectedWord(t)
	if n, ok := value.(json.Number); ok && expected == wholeNumber {
		if _, err := n.Int64(); err == nil {
			found = wholeNumber
		} else {
			found = "the number " + n.String()
		}
	}
	if found != expected {
		return []job.Detail{{Message: "found " + found + "; expected " + expected + encodedTwice(value)}}
	}
	var wrong []job.Detail
	switch value := value.(type) {
	case string:
		if value == "" && t != reflect.TypeFor[string]() {
			wrong = append(wrong, job.Detail{Message: `found ""; give a value, or leave the field out`})
		}
	case map[string]any:
		wrong = wrongMembers(value, t)
	case []any:
		for i, item := range value {
			wrong = append(wrong, job.Below(strconv.Itoa(i), wrongFields(item, t.Elem()))...)
		}
	}
	return wrong[:min(len(wrong), mostWrong)]
}

const mostWrong = 20

func wrongMembers(object map[string]any, t reflect.Type) (wrong []job.Detail) {
	fields := job.FieldsOf(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field, known := fields[key]
		of := field.Type
		switch {
		case t.Kind() == reflect.Map:
			of = t.Elem()
		case known && object[key] == nil:
			continue
		case !known:
			names := slices.Sorted(maps.Keys(fields))
			wrong = append(wrong, job.Detail{Path: job.Pointer(key), Message: "is not a known field; " + spelling.Known(key, names)})
			continue
		}
		wrong = append(wrong, job.Below(key, wrongFields(object[key], of))...)
	}
	return wrong
}

// encodedTwice returns what to do about a string that is itself an object or a list in JSON; "" if it is not.
func encodedTwice(value any) string {
	text, _ := value.(string)
	if text = strings.TrimSpace(text); text == "" || !strings.ContainsRune("{[", rune(text[0])) || !json.Valid([]byte(text)) {
		return ""
	}
	return " (it was encoded twice: send the JSON itself, not a string that contains it)"
}

const wholeNumber = "a whole number"

func expectedWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	default:
		return wholeNumber
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()
