package httpjson

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/spelling"
)

// unknownField returns the first key of a value, in the order of their names, that no field of
// the type has; nil for none. Upper and lower case count, though encoding/json ignores them: two
// readers of one body must not see two things in it.
func unknownField(value any, t reflect.Type) *job.Detail {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := value.(type) {
	case map[string]any:
		fields := fieldsOf(t)
		if fields == nil {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			of, known := fields[key]
			if !known {
				names := slices.Sorted(maps.Keys(fields))
				return &job.Detail{Path: Pointer(key), Message: "is not a known field; " + spelling.Known(key, names)}
			}
			if wrong := unknownField(value[key], of); wrong != nil {
				return &job.Detail{Path: Pointer(key) + wrong.Path, Message: wrong.Message}
			}
		}
	case []any:
		if t == nil || t.Kind() != reflect.Slice {
			return nil
		}
		for i, item := range value {
			if wrong := unknownField(item, t.Elem()); wrong != nil {
				return &job.Detail{Path: Pointer(strconv.Itoa(i)) + wrong.Path, Message: wrong.Message}
			}
		}
	}
	return nil
}

// emptyName finds a field of a named string type, such as job.Decision, whose value is "": none
// of these has an empty value, and a field that is left out is not there. It returns the pointer
// of the field; "" for none.
func emptyName(object map[string]any, into reflect.Type) string {
	names := fieldsOf(into)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		t, known := names[key]
		if !known {
			continue
		}
		switch value := object[key].(type) {
		case string:
			if value == "" && t.Kind() == reflect.String && t != reflect.TypeFor[string]() {
				return Pointer(key)
			}
		case map[string]any:
			if path := emptyName(value, t); path != "" {
				return Pointer(key) + path
			}
		}
	}
	return ""
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// fieldsOf returns the fields of a struct as JSON names them, with their types; nil for
// anything but a struct, and for types with an UnmarshalJSON of their own.
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
			if name == "" {
				name = f.Name
			}
			fields[name] = f.Type
		}
	}
	return fields
}
