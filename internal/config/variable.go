package config

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Variables lists every environment variable that Config reads.
func Variables() []string { return slices.Clone(variables()) }

var variables = sync.OnceValue(func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if name := variableOf(f.Name); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
})

func variableOf(field string) string {
	f, ok := reflect.TypeFor[Config]().FieldByName(field)
	if !ok {
		return field
	}
	name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
	return name
}
