package client_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"ringback/client"
	"ringback/test/must"
)

// Every type that a caller can meet has an exported name in this package.
func TestTypesHaveNames(t *testing.T) {
	t.Parallel()
	source := must.Get(os.ReadFile("types.go"))(t)
	named := map[string]bool{}
	for _, alias := range regexp.MustCompile(`(?m)^\t\w+ += job\.(\w+)`).FindAllStringSubmatch(string(source), -1) {
		named[alias[1]] = true
	}
	seen := map[reflect.Type]bool{}
	var walk func(from string, typ reflect.Type, embedded bool)
	walk = func(from string, typ reflect.Type, embedded bool) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		ours := strings.HasPrefix(typ.PkgPath(), "ringback/")
		if strings.Contains(typ.PkgPath(), "internal") && ours && !embedded && !named[typ.Name()] {
			t.Errorf("%s leads to %s, which has no name in types.go", from, typ)
		}
		switch typ.Kind() { //nolint:exhaustive // the others consist of nothing
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(from, typ.Elem(), false)
		case reflect.Map:
			walk(from, typ.Key(), false)
			walk(from, typ.Elem(), false)
		case reflect.Func:
			for in := range typ.Ins() {
				walk(from, in, false)
			}
			for out := range typ.Outs() {
				walk(from, out, false)
			}
		case reflect.Struct:
			if typ.PkgPath() != "" && !ours {
				return
			}
			for f := range typ.Fields() {
				if f.IsExported() && f.Tag.Get("json") != "-" {
					walk(typ.String()+"."+f.Name, f.Type, f.Anonymous)
				}
			}
		}
	}
	api := reflect.TypeFor[*client.Client]()
	for m := range api.Methods() {
		walk(m.Name, m.Type, false)
	}
	walk("Error", reflect.TypeFor[client.Error](), false)
	walk("CheckpointProps", reflect.TypeFor[client.CheckpointProps](), false)
}
