package intent_test

import (
	"testing"

	"ringback/internal/rules/intent"
)

func TestNamingOneOfSeveralByItsNumber(t *testing.T) {
	t.Parallel()
	type named struct {
		question int
		rest     string
	}
	for text, want := range map[string]named{
		"1": {0, ""}, "2.": {1, ""}, "#2": {1, ""}, "１": {0, ""}, "1: yes": {0, "yes"}, "2 - no": {1, "no"}, "1) yes please": {0, "yes please"}, "2: change: Add a test": {1, "change: Add a test"},
	} {
		if question, rest, ok := intent.ByNumber(2, text); !ok || (named{question, rest}) != want {
			t.Errorf("%q names %d with %q, %v; want %v", text, question, rest, ok, want)
		}
	}
	for _, text := range []string{
		"yes", "both", "yes to both", "all", "1 and 2", "1, 2: yes", "yes to 1 and 2", "1 yes, 2 no", "yes 1 no 2", "3", "0", "12", "1:1", "16:9", "first", "yes first", "neither", "the other one", "1 and the second", "1 and All", "-1", "1.5", "one", "",
		"1?", "1: yes\nand no", "yes to 2", "yes, 1", "the first one: yes", "no to the second", "number 2, no", "not 1",
	} {
		if question, _, ok := intent.ByNumber(2, text); ok {
			t.Errorf("%q was taken to name %d", text, question)
		}
	}
}
