package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"

	"ringback/internal/text/lazy"
)

type sentence struct {
	// text is the written text, with characters in their plain form. written is the text as it is.
	text, written string
	tokens        []token
	// hidden is true if the text contained invisible characters. Its words are then not what they
	// look like.
	hidden bool
	// asks is true if the text contains a question mark, and trails if it contains an ellipsis.
	asks, trails bool
}

const questionMarks = "?¿؟՞‽⁇⁈⁉⸮❓❔"

// token is a word, a number or a mark.
type token struct {
	word string // In lower case.
	// start and end are the token's offsets in the sentence's text.
	start, end int
	// mark is true if it only separates or decorates words, and decoration if it is a harmless sign
	// such as 🙂.
	mark, decoration bool
}

var plain = strings.NewReplacer(
	"‘", "'", "’", "'", "ʼ", "'", "′", "'", "`", "'", "´", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`,
	"‚", "'", "‹", "'", "›", "'", "「", `"`, "」", `"`, "『", `"`, "』", `"`, "〝", `"`, "〟", `"`,
	"∶", ":", "꞉", ":", "×", "x", "‐", "-", "‑", "-", "–", "-", "—", "-", "−", "-", "…", "...", "‥", "..",
	"\ufe0e", "", "\ufe0f", "", "🏻", "", "🏼", "", "🏽", "", "🏾", "", "🏿", "",
)

// parse cuts a text into tokens. Full-width letters and the like are plain ones. A character that
// only resembles others stays what it is: "10²" is not 102.
func parse(text string) sentence {
	if len(text) > maxLength {
		return sentence{}
	}
	s := sentence{written: strings.TrimSpace(strings.ToValidUTF8(text, "")), hidden: !utf8.ValidString(text)}
	visible := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co) && !unicode.IsSpace(r) {
			s.hidden = true
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if !isASCII(visible) {
		visible = norm.NFC.String(width.Fold.String(visible))
	}
	s.text = plain.Replace(visible)
	s.asks, s.trails = strings.ContainsAny(s.text, questionMarks), trailing().MatchString(s.text)
	for i := 0; i < len(s.text); {
		t := next(s.text, i)
		if t.word != "" {
			s.tokens = append(s.tokens, t)
		}
		i = t.end
	}
	return s
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// trailing matches marks that leave a sentence open, such as "yes...".
var trailing = lazy.Regexp(`[.,。、·・‥]\s*[.,。、·・‥]`)

// next returns the token at an offset. Its word is empty for a space.
func next(text string, start int) token {
	r, size := utf8.DecodeRuneInString(text[start:])
	end := start + size
	switch {
	case unicode.IsSpace(r) && r != '\n':
		return token{end: end}
	case !inWord(r):
		t := token{word: strings.ToLower(text[start:end]), start: start, end: end}
		t.decoration = readSigns().decorations[t.word]
		t.mark = t.decoration || r == '\n' || unicode.IsPunct(r)
		return t
	}
	for end < len(text) {
		r, size = utf8.DecodeRuneInString(text[end:])
		if !inWord(r) && !joins(text, end, size) {
			break
		}
		end += size
	}
	return token{word: strings.ToLower(text[start:end]), start: start, end: end}
}

// cut returns the sentence with one token for each character of a script written without spaces.
func (s sentence) cut() sentence {
	var tokens []token
	for _, t := range s.tokens {
		if t.mark || strings.IndexFunc(t.word, isIdeograph) < 0 {
			tokens = append(tokens, t)
			continue
		}
		var spaced strings.Builder
		for _, r := range t.word {
			if isIdeograph(r) {
				spaced.WriteString(" " + string(r) + " ")
			} else {
				spaced.WriteRune(r)
			}
		}
		for word := range strings.FieldsSeq(spaced.String()) {
			tokens = append(tokens, token{word: word, start: t.start, end: t.end})
		}
	}
	s.tokens = tokens
	return s
}

// isIdeograph reports whether a letter belongs to a script written without spaces.
func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー'
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || r == '$' || r == '%'
}

// joins reports whether a mark joins two parts of a word, as in "don't", "16:9", "speech.mp3" and
// "pre-built".
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

// clauses returns the parts between marks. Signs that answer, such as 👍, are separate from the
// words: a run of them is a clause.
func (s sentence) clauses() [][]token {
	var all [][]token
	var one []token
	flush := func() {
		if len(one) > 0 {
			all = append(all, one)
		}
		one = nil
	}
	answers := readSigns().answers
	for _, t := range s.tokens {
		if t.mark || len(one) > 0 && answers[one[0].word] != answers[t.word] {
			flush()
		}
		if !t.mark {
			one = append(one, t)
		}
	}
	flush()
	return all
}

func (s sentence) words() string {
	return s.join(func(t token) bool { return !t.mark })
}

func (s sentence) spelled() string {
	return s.join(func(t token) bool { return !t.mark || t.decoration })
}

func (s sentence) join(which func(token) bool) string {
	var words []string
	for _, t := range s.tokens {
		if which(t) {
			words = append(words, t.word)
		}
	}
	return strings.Join(words, " ")
}

// plainMarks are the marks that do not affect a yes: they separate words. Others quote it, put it
// in brackets, strike it out or make a face.
const plainMarks = ".,!;:-*\n。、¡"

// oddMarks returns the marks of a sentence that may change its meaning. Asterisks come in pairs; a
// single one points to a condition. "!" and "-" do not stand in front of a word: "!yes", "-1".
func (s sentence) oddMarks() string {
	pairs := strings.Count(s.text, "*")%2 == 0
	return s.join(func(t token) bool {
		return t.mark && !t.decoration && (!strings.Contains(plainMarks, t.word) || t.word == "*" && !pairs ||
			strings.Contains("!-", t.word) && s.isPrefix(t))
	})
}

// isPrefix reports whether a mark belongs to the word behind it alone.
func (s sentence) isPrefix(mark token) bool {
	before, _ := utf8.DecodeLastRuneInString(s.text[:mark.start])
	after, _ := utf8.DecodeRuneInString(s.text[mark.end:])
	return inWord(after) && !inWord(before)
}
