package kind_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"ringback/internal/rules/kind"
	"ringback/test/must"
)

// The reference contains every key of a kind's file.
func TestEveryKeyIsInTheReference(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../../docs/kinds.md"))(t)
	for _, of := range []any{kind.Policy{}, kind.Action{}, kind.Program{}, kind.Choice{}, kind.Preview{}, kind.Workspace{}} {
		for field := range reflect.TypeOf(of).Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if key != "" && !strings.Contains(string(text), "`"+key+"`") {
				t.Errorf("docs/kinds.md has no `%s` (%s)", key, reflect.TypeOf(of).Name())
			}
		}
	}
}
