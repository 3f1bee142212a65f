package job

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NameRule describes the names that callers may choose.
type NameRule struct {
	// Most is the maximum number of characters.
	Most int
	// InPath is true if the name is part of a URL path.
	InPath bool
}

// The rules for names that callers choose.
var (
	UserNames    = NameRule{Most: 128}
	SessionNames = NameRule{Most: 256, InPath: true}
	RunNames     = NameRule{Most: 256}
	KeyNames     = NameRule{Most: 256}
)

// notInPath contains the characters with a special meaning in paths, or that proxies interpret.
const notInPath = `/\?#%`

// Fault describes what was expected if a name breaks the rule; empty otherwise. Invisible
// characters are rejected, because two names could look the same.
func (r NameRule) Fault(name string) string {
	expected := fmt.Sprintf(
		"expected 1 to %d visible characters, no control characters among them and no space at either end", r.Most,
	)
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
