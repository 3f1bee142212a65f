package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Problem is something wrong with a file that somebody wrote: a schema, or what else
// a kind is made of.
type Problem struct {
	// File is its name, after the name of the source it comes from.
	File string
	// Line counts from 1; 0 when it is about the file as a whole.
	Line int
	// Message says what is wrong.
	Message string
	// Hint says what to do; may be empty.
	Hint string
}

// Error returns "file:line: message (hint)".
func (p Problem) Error() string {
	text := p.File
	if p.Line > 0 {
		text = fmt.Sprintf("%s:%d", text, p.Line)
	}
	text += ": " + p.Message
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// Join makes one error of problems; nil when there are none.
func Join(problems []Problem) error {
	faults := make([]error, len(problems))
	for i, p := range problems {
		faults[i] = p
	}
	return errors.Join(faults...)
}

// SortProblems puts problems in the order of their files and lines.
func SortProblems(problems []Problem) {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
}
