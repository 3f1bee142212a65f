package intent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/lazy"
)

// bare reads a sentence as the value of one field. The field's name is optional.
func bare(f Field, said sentence) (any, bool) {
	if len(f.Enum) > 0 {
		v, confidence := choose(f.Enum, said, fieldWords(f.Name))
		return v, confidence > 0
	}
	if said.asks && f.Format != "uri" && !hasLink(said.text) {
		return nil, false
	}
	switch f.Type {
	case "number", "integer":
		return number(f, said)
	case "boolean":
		return truth(said)
	}
	return text(f, said)
}

// number reads the only number in a sentence that contains nothing else of meaning.
func number(f Field, said sentence) (any, bool) {
	words := fieldWords(f.Name)
	value, found := "", false
	for i, t := range said.tokens {
		if _, ok := numberOf(t.word); ok {
			if found || i > 0 && negations[said.tokens[i-1].word] {
				return nil, false
			}
			value, found = strings.ReplaceAll(t.word, "_", ""), true
			if i > 0 && said.tokens[i-1].word == "-" && said.tokens[i-1].end == t.start {
				value = "-" + value
			}
			continue
		}
		if !t.mark && !filler[t.word] && !courtesies()[t.word] && !words[t.word] && !words[t.word+"s"] {
			return nil, false
		}
	}
	if !found {
		return nil, false
	}
	return typed(f.Type, value)
}

var small = map[string]string{
	"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "sixty": "60", "hundred": "100",
}

var numeral = lazy.Regexp(`^-?\d+(?:\.\d+)?$`)

// numberOf returns the number that a word stands for, in the form of job.Decimal.
func numberOf(word string) (string, bool) {
	if n, ok := small[word]; ok {
		word = n
	}
	return job.Decimal(word), numeral().MatchString(word)
}

// typed parses a numeral.
func typed(kind, word string) (any, bool) {
	if n, ok := small[word]; ok {
		word = n
	}
	if !numeral().MatchString(word) || len(word) > 30 {
		return nil, false
	}
	if kind == "integer" && strings.Contains(word, ".") {
		return nil, false
	}
	canonical := strings.TrimLeft(strings.TrimPrefix(word, "-"), "0")
	if canonical == "" || canonical[0] == '.' {
		canonical = "0" + canonical
	}
	if word[0] == '-' {
		canonical = "-" + canonical
	}
	return json.Number(canonical), true
}

// truth reads a yes or no that is a value, not a decision.
func truth(said sentence) (any, bool) {
	if said.asks || said.hidden || said.trails || said.oddMarks() != "" {
		return nil, false
	}
	switch strings.TrimSuffix(strings.TrimPrefix(said.words(), "please "), " please") {
	case "y", "true", "on", "enable", "enabled":
		return true, true
	case "n", "false", "off", "disable", "disabled":
		return false, true
	}
	v, _ := agreed(said, func(l *language) []phrases { return []phrases{l.verdicts} })
	return v.sense == approves, v.sense == approves || v.sense == denies
}

var (
	quoted  = lazy.Regexp(`"([^"\n]{1,500})"|(?:^|\s)'([^'\n]{1,500})'(?:$|[\s.,;!])`)
	email   = lazy.Regexp(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	link    = lazy.Regexp(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+`)
	file    = lazy.Regexp(`(?:^|[\s("'])((?:[\w.~-]*/)*[\w.~-]*[A-Za-z0-9_-]\.[A-Za-z][A-Za-z0-9]{1,4})(?:$|[\s)"'.,;!])`)
	day     = lazy.Regexp(`\b\d{4}-\d{2}-\d{2}\b`)
	instant = lazy.Regexp(`\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?`)
)

func hasLink(text string) bool { return link().MatchString(text) }

// text reads the value of a text field.
func text(f Field, said sentence) (any, bool) {
	switch f.Format {
	case "email":
		return single(email().FindAllString(said.text, 3))
	case "uri":
		return single(trimmed(link().FindAllString(said.text, 3)))
	case "date":
		v, ok := single(day().FindAllString(said.text, 3))
		return v, ok && isDay(v)
	case "date-time":
		return single(instant().FindAllString(said.text, 3))
	}
	if unsure(said) {
		return nil, false
	}
	for _, found := range [][]string{quotes(said.text), trimmed(link().FindAllString(said.text, 3)), groups(file(), said.text)} {
		if len(found) > 0 {
			return single(found)
		}
	}
	return phraseOf(f, said)
}

func isDay(v any) bool {
	text, _ := v.(string)
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// single returns the only distinct string found, if there is exactly one.
func single(found []string) (any, bool) {
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}

func trimmed(links []string) []string {
	for i := range links {
		links[i] = strings.TrimRight(links[i], ".,;!)")
	}
	return links
}

func quotes(text string) []string {
	var found []string
	for _, m := range quoted().FindAllStringSubmatch(text, 3) {
		found = append(found, m[1]+m[2])
	}
	return found
}

func groups(re *regexp.Regexp, text string) []string {
	var found []string
	for _, m := range re.FindAllStringSubmatch(text, 3) {
		found = append(found, m[1])
	}
	return found
}

// leads match introductions to a value.
var leads = lazy.Regexp(`(?i)^(?:please )?(?:use|take|set it to|make it|change it to|it is|it's|it should be|that's|that is|call it|name it|choose|go with|let's use|let's go with|i'd like|i want)\s+`)

// doubts are words of sentences that give no value: the person does not know, talks about something
// else, or refers to something that is not there.
var doubts = set("don't", "dont", "not", "maybe", "perhaps", "probably", "whatever", "idea", "dunno", "unsure", "depends", "guess", "later", "wait", "if", "unless", "or",
	"can't", "cannot", "never", "earlier", "before", "previous", "already", "mentioned", "uploaded", "attached", "sent", "told", "might", "could", "should", "would")

func unsure(said sentence) bool {
	return slices.ContainsFunc(said.tokens, func(t token) bool { return doubts[t.word] }) && !strings.Contains(said.text, `"`) &&
		!hasLink(said.text) && !file().MatchString(said.text)
}

// chatter are first words of texts that are not values.
var chatter = set("yes", "no", "ok", "okay", "sure", "thanks", "thank", "hi", "hello", "hey", "please", "help", "what", "why", "how", "who", "when", "where", "hm", "hmm",
	"i", "you", "we", "my", "the", "can", "do", "did", "is", "are", "this", "that", "and", "lol", "cool", "great", "nice", "good", "fine", "stop", "go", "wow", "huh", "test")

// maxPhrase is the maximum number of words in a plain value.
const maxPhrase = 12

// phraseOf reads words that are themselves the value: "A day at the beach", or "use foo_bar".
func phraseOf(f Field, said sentence) (any, bool) {
	rest := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(said.text), ".!"))
	led := leads().MatchString(rest)
	rest = leads().ReplaceAllString(rest, "")
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, " please"), ", please")
	left := parse(rest)
	count := len(left.tokens)
	if count == 0 || strings.ContainsAny(rest, "\n;") || chatter[left.tokens[0].word] {
		return nil, false
	}
	if count == 1 && !filler[left.tokens[0].word] {
		return rest, true
	}
	// Several words are a value only if the field asks for words and no introduction such as "I
	// want" precedes them: a wish may refer to something else.
	if f.Type != "string" || led || count > maxPhrase || asksForName(f) {
		return nil, false
	}
	return rest, true
}

// asksForName reports whether a field's value is the name of something. A sentence is not.
func asksForName(f Field) bool {
	words := fieldWords(f.Name)
	for word := range fieldWords(f.Description) {
		words[strings.Trim(word, ",:()")] = true
	}
	for _, word := range []string{"file", "filename", "path", "url", "uri", "link", "id", "key", "email", "phone", "branch", "version", "code", "date", "time"} {
		if words[word] {
			return true
		}
	}
	return false
}
