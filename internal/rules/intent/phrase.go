package intent

import (
	"slices"
	"strings"
	"sync"

	"ringback/internal/job"
)

type meaning string

const (
	approves meaning = meaning(Approve)
	denies   meaning = meaning(Deny)
	withdraw meaning = meaning(Cancel)
	polite   meaning = "polite"   // changes nothing
	withYes  meaning = "with yes" // may accompany a yes, but is none
	withNo   meaning = "with no"  // may accompany a no, but is none
	changes  meaning = "change"   // asks for a change
	doubt    meaning = "doubt"    // makes the sentence unclear, although its words look like an answer
)

// phrases are known word sequences, by their first word.
type phrases map[string][]phrase

type phrase struct {
	words   []string
	plain   []string // The words without accents.
	meaning meaning
	// first is true if the phrase must begin its clause, and last if it must end it.
	first, last bool
}

// add adds texts with a meaning. "^" before a text sets first, "$" after it sets last.
func (p phrases) add(m meaning, texts ...string) {
	for _, text := range texts {
		text, last := strings.CutSuffix(text, " $")
		text, first := strings.CutPrefix(text, "^ ")
		one := phrase{meaning: m, first: first, last: last}
		for _, t := range parse(text).cut().tokens {
			one.words, one.plain = append(one.words, t.word), append(one.plain, fold(t.word))
		}
		p[one.words[0]] = append(p[one.words[0]], one)
		if one.plain[0] != one.words[0] {
			p[one.plain[0]] = append(p[one.plain[0]], one)
		}
	}
}

// longest returns the longest phrase at an index of a clause, in a table and, in English, in more, and
// its number of words; 0 if there is none.
func (l *language) longest(clause []token, at int, by table, more ...phrases) (found phrase, n int) {
	look := func(in phrases) {
		for _, candidate := range in[clause[at].word] {
			if len(candidate.words) > n && candidate.isAt(clause, at) {
				found, n = candidate, len(candidate.words)
			}
		}
	}
	look(l.tables[by])
	if l.Name == english {
		for _, in := range more {
			look(in)
		}
	}
	return found, n
}

// longest returns the longest phrase in a table of any language.
func longest(clause []token, at int, by table) (found phrase, n int) {
	for _, l := range languages() {
		if p, words := l.longest(clause, at, by); words > n {
			found, n = p, words
		}
	}
	return found, n
}

func (p phrase) isAt(clause []token, at int) bool {
	rest := clause[at:]
	if len(rest) < len(p.words) || p.last && len(rest) != len(p.words) || p.first && at > 0 {
		return false
	}
	for i, word := range p.words {
		if rest[i].word != word && rest[i].word != p.plain[i] {
			return false
		}
	}
	return true
}

// What a person may order. A trade counts only if the question is about it.
var (
	assents  = []string{"approve", "accept", "allow", "confirm"}
	goAheads = []string{
		"go ahead", "go for it", "proceed", "continue", "do it", "do that", "do this", "carry on", "go ahead with it",
		"go ahead and do it", "proceed with it", "make it so", "run it", "run that",
	}
	trades = []string{
		"deploy", "ship", "merge", "push", "send", "delete", "publish", "release", "create", "execute", "start", "install",
		"upload", "run", "apply", "commit", "write", "remove", "restart",
	}
	objects  = []string{"", " it", " this", " that", " them"}
	refusals = []string{
		"don't", "dont", "do not", "never", "i don't", "i do not", "i won't", "i will not", "i can't", "i cannot", "not",
		"let's not", "i don't want to", "i do not want to", "i don't want you to", "you may not", "you can't", "you must not",
	}
)

func (p phrases) addEnglishVerdicts() {
	p.add(denies, withObjects("cancel", "stop", "abort")...)
	for _, assent := range withObjects(assents...) {
		p.decide(assent)
	}
	for _, verb := range goAheads {
		p.decide(verb)
		p.add(approves, "you may "+verb, "you can "+verb)
	}
}

// withObjects returns what verbs say of each object.
func withObjects(verbs ...string) (texts []string) {
	for _, verb := range verbs {
		for _, object := range objects {
			texts = append(texts, verb+object)
		}
	}
	return texts
}

// decide adds the phrases that order an action, and those that forbid it.
func (p phrases) decide(verb string) {
	p.add(approves, verb, verb+" now", "let's "+verb, "feel free to "+verb)
	for _, not := range refusals {
		p.add(denies, not+" "+verb)
	}
}

// tradesOf returns the phrases of the trades that a question's orders begin with: "Deploy the shop?",
// "Shall I deploy it?", "Yes, Deploy".
func tradesOf(q Context) []phrases {
	if q.Type != job.Confirmation {
		return nil
	}
	var spoken []phrases
	for _, order := range q.Orders {
		words := strings.Fields(parse(order).words())
		if p, ok := tradePhrases()[trade(words)]; ok {
			spoken = append(spoken, p)
		}
	}
	return spoken
}

// trade returns the first word of an order that is not part of its introduction.
func trade(order []string) string {
	i := slices.IndexFunc(order, func(word string) bool { return !introductions[word] })
	if i < 0 {
		return ""
	}
	return order[i]
}

// introductions are the words in front of what an order says to do.
var introductions = set(
	"yes", "ok", "okay", "please", "shall", "should", "may", "can", "i", "we", "claude", "it", "now", "really", "do", "you",
	"want", "to",
)

var tradePhrases = sync.OnceValue(func() map[string]phrases {
	all := map[string]phrases{}
	for _, trade := range trades {
		all[trade] = phrases{}
		for _, order := range withObjects(trade) {
			all[trade].decide(order)
		}
	}
	return all
})

var englishJobs = []string{
	"everything", "the job", "the run", "the request", "the whole thing", "the whole job", "the task", "it all",
	"this job", "this run", "this request", "this task",
}

// idioms sound like a cancellation, and may mean something else.
var idioms = set("drop everything", "forget everything", "forget about everything", "forget it all", "forget about it all",
	"end it all")

func (p phrases) addEnglishCancellations(objects ...string) {
	verbs := []string{"cancel", "stop", "abort", "quit", "drop", "scrap", "forget", "forget about", "end", "canel", "cancle"}
	for _, verb := range verbs {
		for _, object := range objects {
			if idioms[verb+" "+object] {
				continue
			}
			for _, lead := range []string{"", "i want to ", "i'd like to ", "i would like to ", "let's "} {
				p.add(withdraw, lead+verb+" "+object)
			}
		}
	}
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, word := range words {
		m[word] = true
	}
	return m
}
