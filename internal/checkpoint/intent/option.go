package intent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ringback/internal/job"
	"ringback/internal/lazy"
	"ringback/internal/spelling"
)

// exact returns the option that a text is, word for word.
func exact(options []any, said sentence) (any, bool) {
	words := said.spelled()
	if said.asks || words == "" {
		return nil, false
	}
	for _, option := range options {
		if parse(fmt.Sprint(option)).spelled() == words {
			return option, true
		}
	}
	return nil, false
}

// mention is a place at which a sentence names an option.
type mention struct {
	option     any
	first, end int // token indexes
	negated    bool
	confidence float64
}

// choose returns the option that a sentence asks for, and the confidence. The confidence is 0 if
// the sentence asks for none or for several. extra are further words that may occur next to it.
func choose(options []any, said sentence, extra map[string]bool) (any, float64) {
	tokens, polite := request(said)
	if said.asks && !polite {
		return nil, 0
	}
	found := mentions(options, tokens)
	if len(found) == 0 {
		found = misspelt(options, tokens)
	}
	if !negate(tokens, found) || !accounted(tokens, found, extra) {
		return nil, 0
	}
	return theOnly(found, tokens)
}

// theOnly returns the option that is asked for if there is exactly one.
func theOnly(found []mention, tokens []token) (any, float64) {
	var chosen *mention
	var refused bool
	for i := range found {
		switch {
		case found[i].negated:
			refused = true
		case chosen != nil && !same(chosen.option, found[i].option), refused && !prefers(tokens[found[i-1].end:found[i].first]):
			return nil, 0 // two of them; or "not this, that", which may be a list
		default:
			chosen = &found[i]
		}
	}
	if chosen == nil || slices.ContainsFunc(found, func(m mention) bool { return m.negated && same(m.option, chosen.option) }) {
		return nil, 0
	}
	return chosen.option, chosen.confidence
}

func same(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

var preferring = set("but", "use", "make", "take", "go", "prefer", "want", "please", "rather", "choose", "pick", "try", "like", "set", "to", "it's", "i'd")

func prefers(between []token) bool {
	return slices.ContainsFunc(between, func(t token) bool { return preferring[t.word] })
}

var requests = lazy.Regexp(`^(?:can|could|would|will) (?:you|we|i) (?:please )?(?:use|have|take|try|choose|pick|make|set|change|switch|go)\b|^(?:how|what) about\b|^why not\b`)

// request removes words that make a wish a question in form only: "could we use …?".
func request(said sentence) (tokens []token, wanted bool) {
	tokens = said.tokens
	lead := requests().FindString(said.words())
	if lead == "" {
		return tokens, false
	}
	return tokens[min(len(tokens), len(strings.Fields(lead))):], true
}

var ratio = lazy.Regexp(`^(\d+)\s*(?::|x|/|by|to)\s*(\d+)$`)

// mentions returns the options in a sentence, longest first, as whole words.
func mentions(options []any, tokens []token) []mention {
	var found []mention
	taken := make([]bool, len(tokens))
	ordered := slices.Clone(options)
	slices.SortStableFunc(ordered, func(a, b any) int { return len(fmt.Sprint(b)) - len(fmt.Sprint(a)) })
	for _, option := range ordered {
		for i := range tokens {
			n := names(option, tokens[i:])
			if n == 0 || slices.Contains(taken[i:i+n], true) {
				continue
			}
			for k := i; k < i+n; k++ {
				taken[k] = true
			}
			found = append(found, mention{option: option, first: i, end: i + n, confidence: 1})
		}
	}
	if len(found) == 0 {
		found = ordinals(options, tokens)
	}
	slices.SortFunc(found, func(a, b mention) int { return a.first - b.first })
	return found
}

// anyNumber matches a number in an option, in lower case; also a text such as "007".
var anyNumber = lazy.Regexp(`^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$`)

// names returns the number of tokens that name an option, or 0 if they do not.
func names(option any, tokens []token) int {
	text := strings.ToLower(fmt.Sprint(option))
	if m := ratio().FindStringSubmatch(text); m != nil {
		return namesRatio(m[1], m[2], tokens)
	}
	if anyNumber().MatchString(text) {
		if v, ok := numberOf(tokens[0].word); ok && v == job.Decimal(text) {
			return 1
		}
		return 0
	}
	words := parse(text).tokens
	if len(words) == 0 || len(words) > len(tokens) || len(words) == 1 && filler[words[0].word] {
		return 0
	}
	for i, word := range words {
		if tokens[i].word != word.word {
			return 0
		}
	}
	return len(words)
}

// namesRatio reads 16:9, 16 : 9, 16x9, 16/9, "16 by 9" and "16 to 9".
func namesRatio(a, b string, tokens []token) int {
	for n := 1; n <= 3 && n <= len(tokens); n++ {
		var text strings.Builder
		for _, t := range tokens[:n] {
			text.WriteString(t.word)
		}
		if m := ratio().FindStringSubmatch(text.String()); m != nil && m[1] == a && m[2] == b {
			if n < len(tokens) && n < 3 && ratio().MatchString(text.String()+tokens[n].word) {
				continue // more digits belong to it
			}
			return n
		}
	}
	return 0
}

var numbers = map[string]int{
	"first": 1, "1st": 1, "one": 1, "second": 2, "2nd": 2, "two": 2, "third": 3, "3rd": 3, "three": 3, "fourth": 4, "4th": 4, "four": 4,
	"fifth": 5, "5th": 5, "five": 5, "sixth": 6, "6th": 6, "six": 6, "last": -1, "latter": -1, "former": 1,
}

var ordinalWords = set("first", "1st", "second", "2nd", "third", "3rd", "fourth", "4th", "fifth", "5th", "sixth", "6th", "last")

// ordinals reads "the second one", "option two", "#2" and a single "2".
func ordinals(options []any, tokens []token) []mention {
	var found []mention
	for i, t := range tokens {
		n, known := numbers[t.word]
		if !known {
			n, _ = strconv.Atoi(t.word)
		}
		named := ordinalWords[t.word] || i > 0 && set("option", "number", "#", "no", "choice")[tokens[i-1].word] ||
			(t.word == "latter" || t.word == "former") && len(options) == 2
		alone := !hasNumbers(options) && onlyMarksBeside(tokens, i) && t.word != "latter" && t.word != "former"
		if !named && !alone {
			continue
		}
		if n == -1 {
			n = len(options)
		}
		if n < 1 || n > len(options) || named && hasNumbers(options) && !ordinalWords[t.word] {
			continue
		}
		found = append(found, mention{option: options[n-1], first: i, end: i + 1, confidence: 1})
	}
	return found
}

// hasNumbers reports whether an option is a plain number, which a number in a reply would mean.
func hasNumbers(options []any) bool {
	return slices.ContainsFunc(options, func(o any) bool {
		return anyNumber().MatchString(strings.ToLower(fmt.Sprint(o)))
	})
}

func onlyMarksBeside(tokens []token, i int) bool {
	for k, t := range tokens {
		if k != i && !t.mark {
			return false
		}
	}
	return true
}

// negate marks the mentions that follow a negation in the same clause. It returns false if a
// negation precedes none of them, because the sentence then means something else.
func negate(tokens []token, found []mention) bool {
	for i, t := range tokens {
		interjection := i == 0 && len(tokens) > 1 && tokens[1].mark // "no, 16:9" rejects what came before
		switch {
		case t.word == "no" && interjection, covers(found, i):
			continue
		case t.word == "but" && i > 0 && sweeping[tokens[i-1].word], t.word == "instead" && i+1 < len(tokens) && tokens[i+1].word == "of",
			negations[t.word]:
		default:
			continue
		}
		m := follows(tokens, found, i)
		if m == nil {
			return false
		}
		m.negated = true
	}
	return true
}

var (
	negations = set("not", "no", "don't", "dont", "never", "without", "except", "isn't", "can't", "cannot", "won't", "doesn't", "neither", "nor",
		"avoid", "unlike", "than", "hate", "dislike", "from")
	sweeping = set("anything", "everything", "any", "all", "nothing")
)

func covers(found []mention, i int) bool {
	return slices.ContainsFunc(found, func(m mention) bool { return m.first <= i && i < m.end })
}

// follows returns the first mention after a token, within its clause.
func follows(tokens []token, found []mention, i int) *mention {
	for k := range found {
		if found[k].first <= i {
			continue
		}
		if slices.ContainsFunc(tokens[i+1:found[k].first], func(t token) bool { return t.mark || t.word == "but" }) {
			return nil
		}
		return &found[k]
	}
	return nil
}

// misspelt returns the options that a word resembles closely.
func misspelt(options []any, tokens []token) []mention {
	var found []mention
	for i, t := range tokens {
		if len(t.word) < 5 || filler[t.word] {
			continue
		}
		var near []any
		for _, option := range options {
			word := strings.ToLower(fmt.Sprint(option))
			if len(word) >= 5 && isPlainWord(word) && word[0] == t.word[0] && spelling.Distance(word, t.word) <= min(2, len(word)/4) {
				near = append(near, option)
			}
		}
		if len(near) == 1 {
			found = append(found, mention{option: near[0], first: i, end: i + 1, confidence: 0.95})
		}
	}
	return found
}

func isPlainWord(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// filler are words that do not change a choice.
var filler = set("use", "using", "please", "the", "a", "an", "aspect", "ratio", "ratios", "format", "option", "number", "choice", "go", "with", "for", "let's", "lets", "let", "us",
	"i", "i'd", "i'll", "we", "we'll", "me", "like", "love", "want", "prefer", "choose", "pick", "take", "have", "set", "it", "to", "change", "make", "try", "then", "ok", "okay",
	"yes", "yeah", "yep", "sure", "thanks", "thank", "you", "one", "this", "that", "is", "fine", "good", "great", "works", "instead", "should", "be", "value", "will",
	"do", "my", "your", "would", "just", "switch", "sorry", "meant", "mean", "actually", "hmm", "um", "oh", "well", "it's", "that's", "of", "in",
	"video", "image", "picture", "photo", "hi", "hello", "right", "correct", "new", "again", "#", "-", "cheers", "wait", "definitely", "say", "need", "rather", "on", "now", "pls", "thx")

// accounted reports whether every word other than the mentions is filler, or a negation that was
// interpreted.
func accounted(tokens []token, found []mention, extra map[string]bool) bool {
	refusing := slices.ContainsFunc(found, func(m mention) bool { return m.negated })
	for i, t := range tokens {
		switch {
		case covers(found, i), t.mark, filler[t.word], courtesies()[t.word], extra[t.word], i == 0 && t.word == "no":
		case refusing && (negations[t.word] || sweeping[t.word] || t.word == "but"):
		default:
			return false
		}
	}
	return true
}

// courtesies are the words of all languages' polite phrases, and the signs of a yes. They do not
// change a choice.
var courtesies = sync.OnceValue(func() map[string]bool {
	texts := slices.Clone(readSigns().Yes)
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

// fieldWords returns the words of a name such as aspect_ratio or aspectRatio.
func fieldWords(name string) map[string]bool {
	return set(append(strings.Fields(spoken(name)), strings.ToLower(name))...)
}

var humps = lazy.Regexp(`([a-z0-9])([A-Z])`)

// spoken returns a name in words: "aspect ratio" for aspect_ratio and aspectRatio.
func spoken(name string) string {
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(humps().ReplaceAllString(name, "$1 $2")))
}
