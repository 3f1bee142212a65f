// Package must holds the checks that most tests share.
package must

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OK ends the test unless err is nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call, and ends the test if the call failed:
//
//	text := must.Get(os.ReadFile(name))(t)
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return value
	}
}

// Equal reports how got differs from want, after the values that identify the comparison.
// The test continues.
func Equal[T any](t testing.TB, want, got T, what ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(append(what, "(-want +got):\n"+diff)...)
	}
}

// Contain reports a text that lacks a part; the test continues.
func Contain(t testing.TB, text, part string, what ...any) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Error(append(what, fmt.Sprintf("%q is missing in:\n%s", part, text))...)
	}
}

// NotContain reports a text that has a part; the test continues.
func NotContain(t testing.TB, text, part string, what ...any) {
	t.Helper()
	if strings.Contains(text, part) {
		t.Error(append(what, fmt.Sprintf("%q is part of:\n%s", part, text))...)
	}
}
