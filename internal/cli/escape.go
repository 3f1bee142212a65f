package cli

import (
	"io"
	"strings"

	"ringback/internal/literal"
)

// jsonWriter writes JSON with \u escapes for characters that control a terminal or change how text
// is displayed. They occur only in strings, where both forms mean the same. It does so for programs, too:
// what they pass on may reach a terminal.
type jsonWriter struct{ io.Writer }

func (w jsonWriter) Write(text []byte) (int, error) {
	var escaped strings.Builder
	for _, r := range string(text) {
		switch {
		case r == '\n', r == '\t', !literal.Hidden(r): // white space is the JSON's own
			escaped.WriteRune(r)
			continue
		case r == '\r': // that, too, but it moves the cursor
			escaped.WriteByte(' ')
			continue
		}
		literal.WriteEscape(&escaped, r)
	}
	_, err := io.WriteString(w.Writer, escaped.String())
	return len(text), err
}
