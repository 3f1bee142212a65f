package httpjson

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"ringback/internal/job"
	"ringback/internal/spelling"
)

// wrongField returns what is wrong with the first part of a value, in sorted order, that does not
// fit the type; nil if all do: a key that is not a field, a value of another type, or an empty
// string although the field has a named string type such as job.Decision. Unlike in
// encoding/json, the case of keys matters: two parsers of one body must not read it differently.
// Named strings are never empty; to omit one, leave the field out. A null field counts as left
// out, but null is not accepted as an item of a list or a value of a map.
func wrongField(value any, t reflect.Type) *job.Detail {
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
		return &job.Detail{Message: "found " + found + "; expected " + expected}
	}
	switch value := value.(type) {
	case string:
		if value == "" && t != reflect.TypeFor[string]() {
			return &job.Detail{Message: `found ""; give a value, or leave the field out`}
		}
	case map[string]any:
		return wrongMember(value, t)
	case []any:
		for i, item := range value {
			if wrong := wrongField(item, t.Elem()); wrong != nil {
				return &job.Detail{Path: job.Pointer(strconv.Itoa(i)) + wrong.Path, Message: wrong.Message}
			}
		}
	}
	return nil
}

// wrongMember is wrongField for an object.
func wrongMember(object map[string]any, t reflect.Type) *job.Detail {
	fields := job.FieldsOf(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		of, known := fields[key]
		switch {
		case t.Kind() == reflect.Map:
			of = t.Elem()
		case known && object[key] == nil:
			continue
		case !known:
			names := slices.Sorted(maps.Keys(fields))
			return &job.Detail{Path: job.Pointer(key), Message: "is not a known field; " + spelling.Known(key, names)}
		}
		if wrong := wrongField(object[key], of); wrong != nil {
			return &job.Detail{Path: job.Pointer(key) + wrong.Path, Message: wrong.Message}
		}
	}
	return nil
}

const wholeNumber = "a whole number"

// expectedWord describes a Go type in terms of JSON.
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
