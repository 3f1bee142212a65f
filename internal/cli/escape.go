package cli

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"ringback/internal/literal"
)

// jsonWriter writes JSON with \u escapes for characters that control a terminal or change how text
// is displayed. They occur only in strings, where both forms mean the same. It buffers an
// incomplete character until the rest is written.
type jsonWriter struct {
	io.Writer
	begun []byte
}

func (w *jsonWriter) Write(text []byte) (int, error) {
	rest := append(w.begun, text...)
	var escaped []byte
	for len(rest) > 0 && utf8.FullRune(rest) {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			escaped = append(escaped, `\ufffd`...)
		case isHarmless(r):
			escaped = append(escaped, rest[:size]...)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				escaped = fmt.Appendf(escaped, `\u%04x`, unit)
			}
		}
		rest = rest[size:]
	}
	w.begun = append([]byte(nil), rest...)
	if _, err := w.Writer.Write(escaped); err != nil {
		return 0, err
	}
	return len(text), nil
}

// exact returns the writer for the bytes of an audit log. Unless the output is a terminal, it does
// not escape them, so that their digests can be compared.
func (a *app) exact(w io.Writer) io.Writer {
	if escaping, ok := w.(*jsonWriter); ok && a.ColumnsFunc(escaping.Writer) == 0 {
		return escaping.Writer
	}
	return w
}

// isHarmless reports whether a terminal displays a character without side effects, or the character
// is whitespace of the JSON itself.
func isHarmless(r rune) bool {
	return r == '\n' || r == '\t' || r == '\r' || !literal.Hidden(r)
}
