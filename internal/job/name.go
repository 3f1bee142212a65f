package job

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NameRule says which names callers may give to something.
type NameRule struct {
	// Most is how many characters it may have.
	Most int
	// InPath is whether it stands in the path of an address, by which it is read.
	InPath bool
}

// The rules for what callers name.
var (
	UserNames    = NameRule{Most: 128}
	SessionNames = NameRule{Most: 256, InPath: true}
	RunNames     = NameRule{Most: 256}
	KeyNames     = NameRule{Most: 256}
)

// notInPath are characters that paths, or what lies between, read otherwise.
const notInPath = `/\?#%`

// Fault says what was expected where a name breaks the rule; empty where it does
// not. What nobody can see is refused, for two names would look the same.
func (r NameRule) Fault(name string) string {
	expected := fmt.Sprintf("expected 1 to %d visible characters, no control characters among them and no space at either end", r.Most)
	if r.InPath {
		expected += ", and none of " + strings.Join(strings.Split(notInPath, ""), " ")
	}
	switch {
	case name == "", !utf8.ValidString(name), utf8.RuneCountInString(name) > r.Most, strings.TrimSpace(name) != name:
		return expected
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return expected
	case r.InPath && (strings.ContainsAny(name, notInPath) || name == "." || name == ".."):
		return expected
	}
	return ""
}
