package intent

import (
	"slices"
	"strconv"
	"strings"

	"ringback/internal/lazy"
)

// Worded reports whether a text is an asker's own wording of a yes or a no.
func Worded(q Context, text string) bool { return q.worded(parse(text)) != "" }

// Named is the question that a text names, out of several, with the rest of the text.
type Named struct {
	// Question is the question's index, from 0.
	Question int
	// Rest is the text without the name; empty if nothing else is left.
	Rest string
}

// ordinalsInWords are the words for the first positions of a list.
var ordinalsInWords = []string{"first", "second", "third", "fourth", "fifth"}

const placeOf = `(?:#|no\. ?|number |question )?(\d{1,2})|the (first|second|third|fourth|fifth)(?: one| question)?`

var (
	numberFirst = lazy.Regexp(`^(?:` + placeOf + `)(?:\s*[:,)\-]\s*|\.\s+|\s+|[.!]*$)(.*)$`)
	numberLast  = lazy.Regexp(`^(.*?)[\s,:]+(?:(?:to|for|on) )?(?:` + placeOf + `)[.!]*$`)
)

// ByNumber reads "1", "1: yes", "yes to 2" and "the second one: no" as a reply to a list of count
// questions. It returns false if the text does not name exactly one position of the list.
func ByNumber(count int, text string) (Named, bool) {
	plainer := strings.ToLower(strings.TrimSpace(parse(text).text))
	var digits, word, rest string
	if m := numberFirst().FindStringSubmatch(plainer); m != nil {
		digits, word, rest = m[1], m[2], m[3]
	} else if m := numberLast().FindStringSubmatch(plainer); m != nil {
		rest, digits, word = m[1], m[2], m[3]
	} else {
		return Named{}, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		n = slices.Index(ordinalsInWords, word) + 1
	}
	if n < 1 || n > count || anotherPlace().MatchString(rest) {
		return Named{}, false
	}
	return Named{n - 1, strings.TrimSpace(rest)}, true
}

// anotherPlace matches a second number in the rest of a text: "1 and 2".
var anotherPlace = lazy.Regexp(`\d|\b(?:first|second|third|fourth|fifth|both|all|other)\b`)

// ByTitle reads "yes, deploy to production" if one of several questions has that title. It returns
// false if the text names none or several, or if the title could itself be an answer.
func ByTitle(titles []string, text string) (Named, bool) {
	said := parse(text)
	found, at, length := -1, 0, 0
	for i, title := range titles {
		words := parse(title).tokens
		place, times := within(words, said.tokens)
		if times == 0 || !telling(words) {
			continue
		}
		if found >= 0 || times > 1 {
			return Named{}, false
		}
		found, at, length = i, place, len(words)
	}
	if found < 0 {
		return Named{}, false
	}
	before := said.text[:said.tokens[at].start]
	after := said.text[said.tokens[at+length-1].end:]
	rest := leading().ReplaceAllString(before, "") + " " + trailingMarks().ReplaceAllString(after, "")
	return Named{found, strings.TrimSpace(rest)}, true
}

var (
	leading       = lazy.Regexp(`(?i)[\s,:-]*(?:\b(?:to|for|on|the)\s+)*$`)
	trailingMarks = lazy.Regexp(`^[\s,:-]+`)
)

// within returns the last index of words among tokens, and how often they occur.
func within(words, tokens []token) (at, times int) {
	if len(words) == 0 {
		return 0, 0
	}
	for i := 0; i+len(words) <= len(tokens); i++ {
		if slices.EqualFunc(words, tokens[i:i+len(words)], func(a, b token) bool { return a.word == b.word }) {
			at = i
			times++
		}
	}
	return at, times
}

// telling reports whether words can serve as a name: at least one of them is not part of an answer
// in any language. An asker chooses its own title, and must not be able to call itself "yes".
func telling(words []token) bool {
	return slices.ContainsFunc(words, func(t token) bool {
		return len(t.word) > 3 && !slices.ContainsFunc(languages(), func(l *language) bool { return l.known[t.word] || l.known[fold(t.word)] })
	})
}
