package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"ringback/internal/literal"
)

// jsonWriter writes JSON with \u escapes for characters that control a terminal or change how text
// is displayed. They occur only in strings, where both forms mean the same.
type jsonWriter struct{ io.Writer }

func (w jsonWriter) Write(text []byte) (int, error) {
	var escaped strings.Builder
	for _, r := range string(text) {
		if r == '\n' || r == '\t' || r == '\r' || !literal.Hidden(r) { // white space is the JSON's own
			escaped.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&escaped, `\u%04x`, unit)
		}
	}
	_, err := io.WriteString(w.Writer, escaped.String())
	return len(text), err
}

// exact returns the writer for the bytes of an audit log. Unless the output is a terminal, it does
// not escape them, so that their digests can be compared.
func (a *app) exact(w io.Writer) io.Writer {
	if escaping, ok := w.(jsonWriter); ok && a.columns(escaping.Writer) == 0 {
		return escaping.Writer
	}
	return w
}
