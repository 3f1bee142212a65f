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
	if len(f.Enum) > 0 {
		return choose(f, said)
	}
	switch f.Type {
	case "number", "integer":
		text := said.without(f.Name)
		return json.Number(text), numeral().MatchString(text)
	case "boolean":
		return truth(said)
	}
	return word(f, said)
}

// choose reads an option, or its number in the list: "Use 16:9", "1:1 aspect ratio please", "2".
func choose(f Field, said sentence) (any, bool) {
	bare := said.without(f.Name)
	for _, text := range []string{said.text, said.without(""), bare} {
		if option, ok := exact(f.Enum, text); ok {
			return option, true
		}
	}
	n, err := strconv.Atoi(strings.Trim(bare, "#)"))
	if err != nil || n < 1 || n > len(f.Enum) || slices.ContainsFunc(f.Enum, isNumeral) {
		return nil, false
	}
	return f.Enum[n-1], true
}

// exact returns the option that a text is, word for word: the identical one, otherwise the only one
// that differs just in case, spaces or punctuation, or in the way a number is written.
func exact[T any](options []T, text string) (option T, ok bool) {
	var found []T
	for _, option := range options {
		written := parse(fmt.Sprint(option)).text
		switch {
		case written == strings.TrimSpace(text):
			return option, true
		case isNumeral(option):
			if n := tidy(text); numeral().MatchString(n) && job.Decimal(n) == job.Decimal(written) {
				found = append(found, option)
			}
		case letters(text) != "" && letters(written) == letters(text) && !strings.ContainsAny(text, questionMarks):
			found = append(found, option)
		}
	}
	if len(found) != 1 {
		return option, false
	}
	return found[0], true
}

// letters returns a text in lower case, with single spaces in place of spaces and punctuation.
func letters(text string) string {
	return strings.Join(
		strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }), " ",
	)
}

// numeral matches a JSON number.
var numeral = lazy.Regexp(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$`)

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

// evasions are words that give no value.
var evasions = set("help", "what", "why", "how", "who", "maybe", "perhaps", "dunno", "idk", "whatever", "later", "unsure", "lol")

// word reads a single word that has no meaning as a reply, or the only thing in a text that is in
// quotes, a link, or the name of a file.
func word(f Field, said sentence) (any, bool) {
	text := tidy(said.text)
	if inside := unquoted(text); inside != text {
		return inside, true
	}
	words := slices.DeleteFunc(parse(text).cut().tokens, func(t token) bool { return t.mark })
	if len(words) == 1 && evasions[words[0].word] || endsAsQuestion(text) || !strings.ContainsFunc(text, inWord) {
		return nil, false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isIdeograph(r) }) {
		return pointedAt(f, text)
	}
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
func pointedAt(f Field, text string) (any, bool) {
	found := pointer().FindAllStringSubmatchIndex(text, 2)
	if len(found) != 1 {
		return nil, false
	}
	for group := 2; group <= 6; group += 2 {
		start, end := found[0][group], found[0][group+1]
		if start < 0 {
			continue
		}
		around := parse(text[:start] + " " + text[end:])
		if around.asks || slices.ContainsFunc(around.tokens, func(t token) bool {
			return !t.mark && !pointing[t.word] && !courtesies()[t.word] && !slices.Contains(strings.Fields(spoken(f.Name)), t.word)
		}) {
			return nil, false
		}
		return tidy(text[start:end]), true
	}
	return nil, false
}

// tidy returns a text without spaces around it and punctuation after it.
func tidy(text string) string { return strings.TrimRight(strings.TrimSpace(text), ".,; \n") }

// unquoted returns a text without the quotes around it.
func unquoted(text string) string {
	for _, quote := range []string{`"`, "'"} {
		if len(text) > 2 && strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) && strings.Count(text, quote) == 2 {
			return strings.Trim(text, quote)
		}
	}
	return text
}

func endsAsQuestion(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(questionMarks, last)
}

var humps = lazy.Regexp(`([a-z0-9])([A-Z])`)

// spoken returns a name in words: "aspect ratio" for aspect_ratio and aspectRatio.
func spoken(name string) string {
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(humps().ReplaceAllString(name, "$1 $2")))
}
