package console

import (
	"bytes"
	"encoding/json"
	"strings"

	"ringback/internal/text/literal"
)

// The limits for formatting JSON. Beyond them it is shown unformatted.
const (
	// mostIndented is the factor by which indentation may lengthen it: deeply nested values are
	// indented at every level.
	mostIndented = 8
	// mostValues is the maximum number of values shown as a tree.
	mostValues = 10_000
	// deepestTree is the maximum depth of that tree.
	deepestTree = 8
)

type extent struct {
	// values is the number of values, including names, or fewer. indented is the number of bytes that
	// line breaks and indentation add.
	values, indented int
}

// extentOf scans JSON once, without parsing it.
func extentOf(text []byte) extent {
	var e extent
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			e.values, e.indented = e.values+1, e.indented+1+2*depth
		case c == '}' || c == ']':
			depth--
			e.indented += 1 + 2*max(depth, 0)
		case c == ',' || c == ':':
			e.values, e.indented = e.values+1, e.indented+1+2*max(depth, 0)
		}
	}
	return e
}

// pretty formats JSON for people and preserves all digits. Invisible characters are written as JSON
// escapes, so that sending the text back does not change the value.
func pretty(text json.RawMessage) string {
	shown := text
	if extentOf(text).indented <= mostIndented*len(text) {
		var out bytes.Buffer
		if json.Indent(&out, text, "", "  ") != nil {
			return string(text)
		}
		shown = out.Bytes()
	} else if !json.Valid(text) {
		return string(text)
	}
	return literal.JSON(unescaped.Replace(string(shown)))
}

// unescaped reverses Go's escapes of characters with a meaning in HTML.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
