package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Problem is an error in a file of a kind, such as its schema.
type Problem struct {
	File string // The name of the file, prefixed with its source.
	// Line counts from 1; 0 if the problem concerns the whole file.
	Line       int
	Message    string
	Hint       string
	Unreadable bool // True if a part of the file could not be read, so that its content is unknown.
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

// Join returns the problems as one error; nil if there are none.
func Join(problems []Problem) error {
	faults := make([]error, len(problems))
	for i, p := range problems {
		faults[i] = p
	}
	return errors.Join(faults...)
}

// SortProblems sorts problems by file and line.
func SortProblems(problems []Problem) {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
}
