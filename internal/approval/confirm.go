package approval

import (
	"fmt"
	"strings"

	"ringback/internal/condition"
)

// What an action's confirm: may say, beside "when: <expression over input>".
const (
	ConfirmAlways = "always"
	ConfirmNever  = "never"
)

// Confirm says when a person must allow an action. The zero value is always.
type Confirm struct {
	never bool
	when  *condition.Condition
}

// ParseConfirm reads "always", "never" or "when: <expression>", such as
// "when: input.amount > 100". Its error is for the author of a kind.
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
	when, err := condition.Parse(rest, "input")
	return Confirm{when: when}, err
}

// Verdict is Ask or Allow. What the condition cannot decide, because a field is
// missing or of another type, is asked, and so is an input with a number that no 64-bit
// float holds exactly: conditions would compare another number than the one that runs.
func (c Confirm) Verdict(input map[string]any) Verdict {
	if c.never {
		return Allow
	}
	if c.when == nil {
		return Ask
	}
	var long longNumbers
	if long.takeOut("", input); len(long) > 0 {
		return Ask
	}
	if asks, err := c.when.Holds(map[string]any{"input": input}); err != nil || asks {
		return Ask
	}
	return Allow
}

// Fields are the fields of the input that the condition names, "a.b" for
// input.a.b. Where one of them cannot be there, nobody would be spared the
// question, or worse, everybody: the author of the kind is to be told.
func (c Confirm) Fields() []string {
	if c.when == nil {
		return nil
	}
	return c.when.Fields("input")
}
