package intent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/lazy"
)

// Only what is written as a value is taken for one: an option, word for word or by its number, a
// number, true or false, a text in quotes or of one word. Anything else is for Claude to interpret.

// value reads a text as the value of one field.
func value(f Field, said sentence) (any, bool) {
	inside, quoted := said.quoted()
	if quoted && !f.anyText() {
		said = parse(inside)
	}
	switch {
	case len(f.Enum) > 0:
		return choose(f, said)
	case f.Type == "number" || f.Type == "integer":
		return number(said.without(f.Name))
	case f.Type == "boolean":
		return truth(said)
	case quoted:
		return inside, true
	}
	return word(f, said)
}

func (f Field) anyText() bool { return f.Type == "string" && len(f.Enum) == 0 }

// choose reads an option, or its number in the list: "Use 16:9", "1:1 aspect ratio please", "2". In
// a list of "v2" and "v1", 1 may mean v1.
func choose(f Field, said sentence) (any, bool) {
	bare := said.without(f.Name)
	for _, text := range []string{said.text, said.without(""), bare} {
		if option, ok := exact(f.Enum, text); ok {
			return option, true
		}
	}
	place := strings.Trim(bare, "#)")
	n, err := strconv.ParseUint(place, 10, 16)
	if err != nil || n < 1 || int(n) > len(f.Enum) || slices.ContainsFunc(f.Enum, isNumeral) {
		return nil, false
	}
	chosen := f.Enum[n-1]
	return chosen, !slices.ContainsFunc(f.Enum, func(other any) bool {
		return other != chosen && slices.Equal(digits().FindAllString(fmt.Sprint(other), -1), []string{place})
	})
}

var digits = lazy.Regexp(`\d+`)

// exact returns the option that a text is, word for word: the identical one, otherwise the only one
// that differs just in case, spaces or marks between words, or in the way a number is written.
func exact[T any](options []T, text string) (option T, ok bool) {
	var found []T
	for _, option := range options {
		written := parse(fmt.Sprint(option)).text
		switch {
		case written == strings.TrimSpace(text):
			return option, true
		case isNumeral(option):
			if strings.EqualFold(written, tidy(text)) {
				found = append(found, option)
			} else if n, ok := number(tidy(text)); ok && job.Decimal(string(n)) == job.Decimal(written) {
				found = append(found, option)
			}
		case letters(text) != "" && letters(written) == letters(text) && !strings.ContainsAny(text, questionMarks):
			found = append(found, option)
		}
	}
	if len(found) != 1 {
		return option, false
	}
	return found[0], isNumeral(found[0]) || sameWords(parse(fmt.Sprint(found[0])).text, text)
}

// sameWords reports whether a text has the words of an option with the marks that belong to them. A capital
// behind a number is that of a unit: 5 mW are not 5 MW.
func sameWords(option, text string) bool {
	option, text = words(option), words(text)
	return option == text || strings.ToLower(option) == text
}

// words returns the words of a text with the marks that belong to them, in lower case up to the first number.
func words(text string) string {
	var kept strings.Builder
	number := strings.IndexFunc(text, unicode.IsNumber)
	for i, r := range text {
		switch {
		case unicode.IsPunct(r) && separates(r, text[:i], text[i+utf8.RuneLen(r):]):
			r = ' '
		case number < 0 || i < number:
			r = unicode.ToLower(r)
		}
		kept.WriteRune(r)
	}
	return strings.Join(strings.Fields(kept.String()), " ")
}

// separates reports whether a mark only separates, ends or encloses words. Next to a number only a few do:
// "-5 dB", "10%", "1.5" and "1,5" are what they are. One that is attached to a single word belongs to it, as
// in "C#" and "!draft".
func separates(mark rune, before, after string) bool {
	last := func(text string) rune { r, _ := utf8.DecodeLastRuneInString(text); return r }
	first := func(text string) rune { r, _ := utf8.DecodeRuneInString(text); return r }
	inside := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	left, right := last(strings.TrimSpace(before)), first(strings.TrimSpace(after))
	switch {
	case unicode.In(mark, unicode.Ps, unicode.Pe), strings.ContainsRune(`"'`, mark):
		return true
	case strings.ContainsRune(".,;:!。、", mark) && !inside(first(after)) && !unicode.IsNumber(right):
		return true // it ends a word
	case unicode.IsNumber(left) || unicode.IsNumber(right):
		return unicode.IsNumber(left) && unicode.IsNumber(right) && strings.ContainsRune(":/", mark)
	}
	return inside(last(before)) == inside(first(after))
}

// letters returns a text in lower case, with single spaces in place of spaces and punctuation.
func letters(text string) string {
	return strings.Join(
		strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }), " ",
	)
}

var (
	// numeral matches a JSON number, and plainNumber one that a person writes. In a part of the
	// world, 1.000 is a thousand: grouped matches what may be meant so.
	numeral     = lazy.Regexp(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$`)
	plainNumber = lazy.Regexp(`^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?$`)
	grouped     = lazy.Regexp(`^[+-]?[1-9]\d{0,2}\.\d{3}$`)
)

// number reads a number that means the same everywhere.
func number(text string) (json.Number, bool) {
	return json.Number(strings.TrimPrefix(text, "+")), plainNumber().MatchString(text) && !grouped().MatchString(text)
}

func isNumeral(option any) bool { return numeral().MatchString(fmt.Sprint(option)) }

// without returns the text without "use", the field's name and polite words at its ends.
func (s sentence) without(name string) string {
	named := strings.Fields(spoken(name))
	idle := func(word string) bool {
		word = strings.ToLower(strings.Trim(word, ".,;:!"))
		return word == "" || word == "use" || courtesies()[word] || slices.Contains(named, word)
	}
	words := strings.Fields(s.text)
	for len(words) > 0 && idle(words[0]) {
		words = words[1:]
	}
	for len(words) > 0 && idle(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.TrimRight(strings.Join(words, " "), ".,;!")
}

// courtesies are the words of all languages' polite phrases, and the signs that do not change a
// value.
var courtesies = sync.OnceValue(func() map[string]bool {
	texts := append(slices.Clone(readSigns().Yes), readSigns().Polite...)
	for _, l := range languages() {
		texts = append(texts, l.Polite...)
	}
	words := map[string]bool{}
	for _, text := range texts {
		for _, t := range parse(strings.TrimSuffix(text, " $")).tokens {
			words[t.word] = true
		}
	}
	return words
})

// truth reads true, false, or a yes or no that is a value, not a decision.
func truth(said sentence) (any, bool) {
	if said.asks || said.hidden || said.trails || said.oddMarks() != "" {
		return nil, false
	}
	if text := said.words(); text == "true" || text == "false" {
		return text == "true", true
	}
	sense, _ := agreed(said, func(l *language) []phrases { return []phrases{l.verdicts} })
	return sense == approves, sense == approves || sense == denies
}

// evades reports whether a text, or a clause of it, gives no value: "N/A", "I don't know, you choose".
func evades(said sentence) bool {
	return !strings.ContainsFunc(said.text, inWord) || slices.ContainsFunc(said.cut().clauses(), func(clause []token) bool {
		return slices.ContainsFunc(languages(), func(l *language) bool { return l.read([][]token{clause}, l.evasions) == doubt })
	})
}

// word reads a single word that has no meaning as a reply, or the only thing in a text that is in
// quotes, a link, or the name of a file.
func word(f Field, said sentence) (any, bool) {
	text := tidy(said.written)
	if said.hidden || endsAsQuestion(text) || evades(said) {
		return nil, false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isIdeograph(r) }) {
		return pointedAt(f, said)
	}
	words := slices.DeleteFunc(said.cut().tokens, func(t token) bool { return t.mark })
	return text, !slices.ContainsFunc(languages(), func(l *language) bool { return l.knows(words) == len(words) })
}

// pointer matches a text in quotes, a link, or the name of a file.
var pointer = lazy.Regexp(`"([^"\n]+)"|([a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+)|(?:^|[\s("'])((?:[\w.~-]*/)*[\w.~-]*[A-Za-z0-9_-]\.[A-Za-z][A-Za-z0-9]{1,4})(?:$|[\s)"'.,;!])`)

// pointing are the words that may surround what a text points at. With any other word, such as a no,
// the text may mean something else.
var pointing = set(
	"use", "take", "it's", "it", "is", "that", "this", "the", "my", "a", "one", "called", "named", "file", "link", "i",
	"uploaded", "sent", "earlier", "before",
)

// pointedAt reads "Use the file I uploaded earlier - the speech.mp3".
func pointedAt(f Field, said sentence) (any, bool) {
	found := pointer().FindAllStringSubmatchIndex(said.text, 2)
	if len(found) != 1 {
		return nil, false
	}
	for group := 2; group <= 6; group += 2 {
		start, end := found[0][group], found[0][group+1]
		if start < 0 {
			continue
		}
		around := parse(said.text[:start] + " " + said.text[end:])
		if around.asks || slices.ContainsFunc(around.tokens, func(t token) bool {
			return !t.mark && !pointing[t.word] && !courtesies()[t.word] && !slices.Contains(strings.Fields(spoken(f.Name)), t.word)
		}) {
			return nil, false
		}
		inside := tidy(said.text[start:end])
		return inside, strings.Contains(said.written, inside) // as the person has written it
	}
	return nil, false
}

// tidy returns a text without spaces around it and punctuation after it.
func tidy(text string) string { return strings.TrimRight(strings.TrimSpace(text), ".,; \n") }

func endsAsQuestion(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(questionMarks, last)
}

var humps = lazy.Regexp(`([a-z0-9])([A-Z])`)

// spoken returns a name in words: "aspect ratio" for aspect_ratio and aspectRatio.
func spoken(name string) string {
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(humps().ReplaceAllString(name, "$1 $2")))
}
