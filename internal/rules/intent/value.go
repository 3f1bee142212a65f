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

	"ringback/internal/text/lazy"
)

// Only what is certain is taken for a value: an option, word for word or by its number, a number, a yes or a
// no for a boolean, and a text behind its name. Anything else is for Claude to interpret.

func value(f Field, said sentence) (any, bool) {
	switch {
	case len(f.Enum) > 0:
		return choose(f, said)
	case f.Type == "number" || f.Type == "integer":
		return number(said.without(f.Name))
	case f.Type == "boolean":
		return truth(said)
	}
	return nil, false
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
	if err != nil || n < 1 || int(n) > len(f.Enum) || slices.ContainsFunc(f.Enum, isNumber) {
		return nil, false
	}
	chosen := f.Enum[n-1]
	return chosen, !slices.ContainsFunc(f.Enum, func(other any) bool {
		return other != chosen && slices.Equal(digits().FindAllString(fmt.Sprint(other), -1), []string{place})
	})
}

var digits = lazy.Regexp(`\d+`)

func isNumber(option any) bool {
	_, err := strconv.ParseFloat(fmt.Sprint(option), 64)
	return err == nil
}

// exact returns the option that a text is, word for word: the identical one, otherwise the only one
// that differs just in case. Next to a number, case counts: 5 mW are not 5 MW.
func exact[T any](options []T, text string) (option T, ok bool) {
	text = strings.TrimSpace(text)
	var found []T
	for _, option := range options {
		switch written := strings.TrimSpace(parse(fmt.Sprint(option)).text); {
		case written == text:
			return option, true
		case strings.EqualFold(written, text) && !strings.ContainsFunc(text, unicode.IsNumber):
			found = append(found, option)
		}
	}
	if len(found) != 1 {
		return option, false
	}
	return found[0], true
}

// plainNumber matches a number that a person writes. In a part of the world, 1.000 is a thousand:
// grouped matches what may be meant so.
var (
	plainNumber = lazy.Regexp(`^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?$`)
	grouped     = lazy.Regexp(`^[+-]?[1-9]\d{0,2}\.\d{3}$`)
)

// number reads a number that means the same everywhere.
func number(text string) (json.Number, bool) {
	return json.Number(strings.TrimPrefix(text, "+")), plainNumber().MatchString(text) && !grouped().MatchString(text)
}

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
	sense, _ := agreed(said, verdicts)
	return sense == approves, sense == approves || sense == denies
}

// evades reports whether a text, or a clause of it, gives no value: "N/A", "I don't know, you choose".
func evades(said sentence) bool {
	return !strings.ContainsFunc(said.text, inWord) || slices.ContainsFunc(said.cut().clauses(), func(clause []token) bool {
		return slices.ContainsFunc(languages(), func(l *language) bool { return l.read([][]token{clause}, evasions) == doubt })
	})
}

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
