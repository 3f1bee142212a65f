package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Shown returns the whole input of a call as people are shown it: indented JSON with its
// keys sorted, so that neither what stands first nor how it is written is Claude's choice.
func (c ToolCall) Shown() string { return inputText(c.Input, "  ") }

// inputText writes an input in one way only. What people would not see, or see in another
// order than it has, is written as \u escapes.
func inputText(input map[string]any, indent string) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(input); err != nil {
		return "" // it was not read from JSON
	}
	return visible(strings.TrimSuffix(text.String(), "\n"))
}

// visible escapes characters of a JSON text that are invisible, or move others.
func visible(text string) string {
	var out strings.Builder
	for _, c := range text {
		switch {
		case c == '\n', c == ' ', !unicode.In(c, unicode.C, unicode.Z):
			out.WriteRune(c)
		default:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		}
	}
	return out.String()
}
