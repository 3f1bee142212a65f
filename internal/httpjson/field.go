package httpjson

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/spelling"
)

// wrongField returns the first key of a value, in sorted order, that is not a field of the
// type, or that is an empty string although the field has a named string type such as
// job.Decision; nil for none. Unlike in encoding/json, case matters: two parsers of one
// body must not read it differently. Named strings are never empty; to omit one, leave the
// field out.
func wrongField(value any, t reflect.Type) *job.Detail {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := value.(type) {
	case string:
		if value == "" && t != nil && t.Kind() == reflect.String && t != reflect.TypeFor[string]() {
			return &job.Detail{Message: `found ""; give a value, or leave the field out`}
		}
	case map[string]any:
		fields := fieldsOf(t)
		if fields == nil {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			of, known := fields[key]
			if !known {
				names := slices.Sorted(maps.Keys(fields))
				return &job.Detail{Path: job.Pointer(key), Message: "is not a known field; " + spelling.Known(key, names)}
			}
			if wrong := wrongField(value[key], of); wrong != nil {
				return &job.Detail{Path: job.Pointer(key) + wrong.Path, Message: wrong.Message}
			}
		}
	case []any:
		if t == nil || t.Kind() != reflect.Slice {
			return nil
		}
		for i, item := range value {
			if wrong := wrongField(item, t.Elem()); wrong != nil {
				return &job.Detail{Path: job.Pointer(strconv.Itoa(i)) + wrong.Path, Message: wrong.Message}
			}
		}
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// fieldsOf returns the fields of a struct by their JSON names, with their types; nil for
// anything but a struct, and for types that implement UnmarshalJSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" && (name != "" || !f.Anonymous) {
			name = cmp.Or(name, f.Name)
			fields[name] = f.Type
		}
	}
	return fields
}

// pointerTo returns the JSON Pointer of a field within t as encoding/json names it: with the embedded
// structs that contain it, which JSON does not have.
func pointerTo(field string, t reflect.Type) string {
	var keys []string
	for name := range strings.SplitSeq(field, ".") {
		for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
			t = t.Elem()
		}
		fields := fieldsOf(t)
		of, known := fields[name]
		if fields != nil && !known {
			continue
		}
		keys, t = append(keys, name), of
	}
	return job.Pointer(keys...)
}
