// Package must holds the checks that most tests share.
package must

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Patience is the maximum wait for a condition before a test fails.
const Patience = 3 * time.Minute

// OK ends the test unless err is nil.
func OK(t testing.TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(what, err)...)
	}
}

// Fail reports an error that is nil or does not say a text; the test continues.
func Fail(t testing.TB, err error, says string, what ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Error(append(what, fmt.Sprintf("the error is %v, want one that says %q", err, says))...)
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

// Eventually waits until ok returns true, for so long that a busy machine fails no test.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("gave up waiting for %s", what)
		}
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
