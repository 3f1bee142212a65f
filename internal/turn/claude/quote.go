package claude

import (
	"strings"
	"unicode"

	"ringback/internal/job"
	"ringback/internal/text/literal"
)

// inserted returns a value of the input in a form that is safe among the sentences of a
// kind's prompt. What could be read as a sentence itself is quoted as JSON: any text
// except the kind author's own words and single words constrained by a format or a
// pattern.
func (p Prompt) inserted(path string, value any) string {
	text, isText := value.(string)
	if isText && isBare(text) && p.Kind.Input.Bounds(path, text) {
		return text
	}
	return escapeDeceptive(escapeFence(job.MustJSON(value)))
}

// maxBare limits unquoted text, in bytes.
const maxBare = 100

// isBare reports whether a text is short and plain, and can neither make the CLI open a file
// nor end a quotation.
func isBare(text string) bool {
	return text != "" && len(text) <= maxBare && text[0] != '/' && !strings.ContainsAny(text, "`#@\"'<>{}") &&
		strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// escapeDeceptive escapes in JSON the characters that are invisible, change the writing
// direction, or look like the end of a quotation.
func escapeDeceptive(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r <= '~' || !isDeceptive(r) {
			out.WriteRune(r)
		} else {
			literal.WriteEscape(&out, r)
		}
	}
	return out.String()
}

// lookalikes are characters that look like quotes or backticks, in addition to
// Unicode's quotation marks.
const lookalikes = "\u00a8\u00b4\u02b9\u02ba\u02bb\u02bc\u02bd\u02ca\u02cb\u02dd\u02ee\u02f4\u02f5\u02f6\u05f3\u05f4\u1fef\u1ffd\u1ffe\u201a\u201e\u2032\u2033\u2034\u2035\u2036\u2037\u2057" +
	"\u275b\u275c\u275d\u275e\u275f\u2760\u276e\u276f\u2800\u2e42\u3003\u300c\u300d\u300e\u300f\u301d\u301e\u301f\ufe41\ufe42\ufe43\ufe44\uff02\uff07\uff20\uff40\uff62\uff63\ufe6b\U0001f676\U0001f677\U0001f678"

func isDeceptive(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.IsSpace(r) ||
		unicode.In(r, unicode.Zs, unicode.Pi, unicode.Pf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		strings.ContainsRune(lookalikes, r)
}
