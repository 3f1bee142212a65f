package approval

import (
	"fmt"
	"slices"
	"strings"

	"ringback/internal/rules/condition"
)

// The values of an action's confirm: setting, besides "when: <expression over input>".
const (
	ConfirmAlways = "always"
	ConfirmNever  = "never"
)

// Confirm decides when a person must allow an action. The zero value is "always".
type Confirm struct {
	never bool
	when  *condition.Condition
}

// ParseConfirm parses "always", "never" or "when: <expression>", such as "when:
// input.amount > 100". Its error is meant for the author of the kind.
func ParseConfirm(text string) (Confirm, error) {
	rest, conditional := strings.CutPrefix(text, "when:")
	switch {
	case text == ConfirmAlways:
		return Confirm{}, nil
	case text == ConfirmNever:
		return Confirm{never: true}, nil
	case !conditional:
		return Confirm{}, fmt.Errorf(`found %q; allowed: always, never, "when: <expression over input>"`, text)
	}
	when, err := condition.ParseStrict(rest, "input")
	return Confirm{when: when}, err
}

// Asks reports whether a person is asked. A condition also asks if the input lacks a field that it
// names, even if it happens not to read it, if it cannot be decided because a value has another type,
// or if the input contains a number that a 64-bit float cannot represent exactly: the condition would
// compare a different number than the one that runs.
func (c Confirm) Asks(input map[string]any) bool {
	if c.never || c.when == nil {
		return !c.never
	}
	lacks := func(path string) bool { return !has(input, strings.Split(path, ".")) }
	if _, long := takeLongNumbers(input); len(long) > 0 || slices.ContainsFunc(c.Fields(), lacks) {
		return true
	}
	asks, err := c.when.Holds(map[string]any{"input": input})
	return asks || err != nil
}

func has(object map[string]any, path []string) bool {
	v := object[path[0]]
	if len(path) == 1 {
		return v != nil
	}
	inner, _ := v.(map[string]any)
	return has(inner, path[1:])
}

// Fields returns the fields of the input that the condition refers to, "a.b" for input.a.b.
// If one of them cannot exist, the condition always asks; the author of the kind must be warned.
func (c Confirm) Fields() []string {
	if c.when == nil {
		return nil
	}
	return c.when.Fields("input")
}
