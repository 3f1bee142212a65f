package console

import (
	"bytes"
	"encoding/json"
	"strings"

	"ringback/internal/literal"
)

// The limits of JSON that is laid out. Beyond them it is shown as it was written.
const (
	// mostIndented is how many times longer indentation may make it: what is nested deeply
	// is indented at every level.
	mostIndented = 8
	// mostValues is how many values are unfolded one by one.
	mostValues = 10_000
	// deepestTree is how deeply they may be nested.
	deepestTree = 8
)

// extent is how much JSON there is to lay out.
type extent struct {
	// values is at least how many values it holds, names counted, and depth how deeply they
	// are nested. indented is how many bytes line breaks and indentation add.
	values, depth, indented int
}

// extentOf reads JSON once, without anything but counting.
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
			e.values, e.depth, e.indented = e.values+1, max(e.depth, depth), e.indented+1+2*depth
		case c == '}' || c == ']':
			depth--
			e.indented += 1 + 2*max(depth, 0)
		case c == ',' || c == ':':
			e.values, e.indented = e.values+1, e.indented+1+2*max(depth, 0)
		}
	}
	return e
}

// pretty is JSON as people read it, digit for digit. Characters that cannot be seen are
// written as JSON escapes, so that what is sent back is the same.
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

// unescaped undoes escapes that Go writes of characters which mean something in HTML.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
