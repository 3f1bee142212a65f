package cli

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"ringback/internal/literal"
)

// jsonWriter writes JSON with \u escapes in place of characters that steer a terminal or make
// a text read other than it is written: they are in strings only, where both mean the same. It
// keeps the beginning of a character until the rest is written.
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

// exact is what the bytes of a log are written to whose digests somebody may compare: the
// writer itself if it leads to no terminal.
func (a *app) exact(w io.Writer) io.Writer {
	if escaping, ok := w.(*jsonWriter); ok && a.ColumnsFunc(escaping.Writer) == 0 {
		return escaping.Writer
	}
	return w
}

// isHarmless reports whether a terminal shows a character and nothing else, or it is a line
// break or tab of the JSON itself.
func isHarmless(r rune) bool {
	return r == '\n' || r == '\t' || r == '\r' || !literal.Hidden(r)
}
