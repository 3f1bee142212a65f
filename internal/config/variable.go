package config

import (
	"reflect"
	"strings"
)

// Variables lists every environment variable that Config reads.
func Variables() []string {
	var names []string
	for f := range reflect.TypeFor[Config]().Fields() {
		names = append(names, variableOf(f.Name))
	}
	return names
}

func variableOf(field string) string {
	f, ok := reflect.TypeFor[Config]().FieldByName(field)
	if !ok {
		return field
	}
	name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
	return name
}
