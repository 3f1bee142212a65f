package markdown

import (
	"strings"
	"unicode"
)

// Printed reports whether an output contains what a document shows of it. A … in the
// document stands for anything, and white space is ignored, because documents break lines.
func Printed(shown, output string) bool {
	output = unspaced(output)
	for part := range strings.SplitSeq(unspaced(shown), "…") {
		_, rest, found := strings.Cut(output, part)
		if !found {
			return false
		}
		output = rest
	}
	return true
}

func unspaced(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
