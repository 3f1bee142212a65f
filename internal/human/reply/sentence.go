package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// sentence is a text cut into tokens.
type sentence struct {
	// text is what was written, its characters in their plain form.
	text   string
	tokens []token
	// hidden is whether it held characters that nobody sees: then its words are
	// not what they look like.
	hidden bool
	// asks is whether it holds a question mark; trails, an ellipsis.
	asks, trails bool
}

// token is a word, a number or a mark.
type token struct {
	// word is in lower case.
	word string
	// start and end are where it stands in the sentence's text.
	start, end int
	mark       bool
}

var plain = strings.NewReplacer(
	"‘", "'", "’", "'", "ʼ", "'", "`", "'", "´", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`,
	"∶", ":", "꞉", ":", "×", "x", "–", "-", "—", "-", "−", "-", "…", "...",
	"\ufe0f", "", "🏻", "", "🏼", "", "🏽", "", "🏾", "", "🏿", "",
)

// parse cuts a text into tokens.
func parse(text string) sentence {
	if len(text) > maxLength {
		return sentence{}
	}
	s := sentence{hidden: !utf8.ValidString(text)}
	visible := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co) && !unicode.IsSpace(r) {
			s.hidden = true
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	s.text = norm.NFKC.String(plain.Replace(visible))
	s.asks, s.trails = strings.ContainsAny(s.text, "?¿"), strings.Contains(s.text, "..")
	for i := 0; i < len(s.text); {
		t := next(s.text, i)
		if t.word != "" {
			s.tokens = append(s.tokens, t)
		}
		i = t.end
	}
	return s
}

// next returns the token at a place; its word is empty for a space.
func next(text string, start int) token {
	r, size := utf8.DecodeRuneInString(text[start:])
	end := start + size
	switch {
	case unicode.IsSpace(r) && r != '\n':
		return token{end: end}
	case !inWord(r):
		return token{strings.ToLower(text[start:end]), start, end, r == '\n' || unicode.IsPunct(r)}
	}
	for end < len(text) {
		r, size = utf8.DecodeRuneInString(text[end:])
		if !inWord(r) && !joins(text, end, size) {
			break
		}
		end += size
	}
	return token{strings.ToLower(text[start:end]), start, end, false}
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || r == '$' || r == '%'
}

// joins reports whether a mark holds two parts of a word together, as in
// "don't", "16:9", "speech.mp3" and "pre-built".
func joins(text string, at, size int) bool {
	if size != 1 || !strings.ContainsRune("'.:/-@", rune(text[at])) || at == 0 || at+1 >= len(text) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+1:])
	if text[at] == ':' {
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return inWord(before) && inWord(after)
}

// clauses are the parts between marks.
func (s sentence) clauses() [][]token {
	var all [][]token
	var one []token
	for _, t := range s.tokens {
		if t.mark {
			if len(one) > 0 {
				all = append(all, one)
			}
			one = nil
			continue
		}
		one = append(one, t)
	}
	if len(one) > 0 {
		all = append(all, one)
	}
	return all
}

// words are the tokens that are no marks, as one text.
func (s sentence) words() string {
	var words []string
	for _, t := range s.tokens {
		if !t.mark {
			words = append(words, t.word)
		}
	}
	return strings.Join(words, " ")
}
