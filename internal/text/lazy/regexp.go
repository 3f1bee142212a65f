// Package lazy defers what a package would otherwise compute at every start of the binary,
// whichever command is run, to its first use.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles a pattern when it is first called. It panics then if
// the pattern is invalid, so every pattern needs a test that uses it.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
