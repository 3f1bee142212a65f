package httpjson

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// miscased finds a key that encoding/json would take for a field though it is written in
// other letters, such as REQUESTID: two readers of one body must not see two things in it.
// It returns the field and the pointer of the key; "" for none.
func miscased(object map[string]any, into reflect.Type) (field, path string) {
	names := fieldsOf(into)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if t, exact := names[key]; exact {
			nested, isObject := object[key].(map[string]any)
			if isObject {
				if field, path = miscased(nested, t); field != "" {
					return field, Pointer(key) + path
				}
			}
			continue
		}
		for name := range names {
			if strings.EqualFold(name, key) {
				return name, Pointer(key)
			}
		}
	}
	return "", ""
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

// fieldsOf are the fields of a struct as JSON names them, with their types; none for
// what is no struct, or reads itself.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(unmarshaler) {
		return fields
	}
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
