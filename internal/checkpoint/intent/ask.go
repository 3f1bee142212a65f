package intent

import (
	"slices"
	"strings"
	"unicode"

	"ringback/internal/excerpt"
	"ringback/internal/job"
)

// asking are the sentences of a language with which a person is asked back.
// {{reply}} is what they wrote.
type asking struct {
	// Qualified and QualifiedReview answer a yes with a condition, Unclear what is
	// neither a yes nor a no.
	Qualified       string `yaml:"qualified"`
	QualifiedReview string `yaml:"qualified_review"`
	Unclear         string `yaml:"unclear"`
	// Answer and AnswerReview say what can be answered; the others, after a yes with
	// a condition.
	Answer               string `yaml:"answer"`
	AnswerOrChange       string `yaml:"answer_or_change"`
	AnswerReview         string `yaml:"answer_review"`
	AnswerOrChangeReview string `yaml:"answer_or_change_review"`
}

// unclearValue begins the question that asks for a value again.
const unclearValue = "I did not understand that. "

// askBack is the reading of a decision that is not clear: the question to ask
// back, which speaks to what was said in the language in which it was said. The
// whole story of a review is not told again.
func askBack(q Context, said sentence, text string) Reading {
	r := Reading{Outcome: Unclear}
	words := sentencesOf(said)
	begins, ends := words.Unclear, words.Answer
	if q.Type == job.Review {
		ends = words.AnswerReview
	}
	if qualified(said) {
		r.Offer = strings.TrimSpace(text)
		begins, ends = words.Qualified, words.AnswerOrChange
		if q.Type == job.Review {
			begins, ends = words.QualifiedReview, words.AnswerOrChangeReview
		}
	}
	parts := []string{strings.Replace(begins, "{{reply}}", Quote(text), 1)}
	if q.Type != job.Review {
		parts = append(parts, strings.TrimSpace(q.Message))
	}
	r.Question = strings.Join(append(parts, ends), " ")
	return r
}

// sentencesOf are those of the language that knows most of a text's words;
// English where no single one does, or it has none.
func sentencesOf(said sentence) asking {
	tokens := said.cut().tokens
	var inEnglish asking
	var best []*language
	most := 0
	for _, l := range languages() {
		if l.Name == english {
			inEnglish = l.Ask
		}
		switch known := l.knows(tokens); {
		case known > most:
			best, most = []*language{l}, known
		case known == most:
			best = append(best, l)
		}
	}
	if len(best) == 1 && best[0].Ask != (asking{}) {
		return best[0].Ask
	}
	return inEnglish
}

// knows counts the tokens that stand in the language's lists.
func (l *language) knows(tokens []token) int {
	known := 0
	for at := 0; at < len(tokens); {
		_, n := longest([]phrases{l.verdicts, l.changes, l.changing, l.turns}, tokens, at)
		known += n
		at += max(1, n)
	}
	return known
}

// maxQuote is how many characters of a reply are quoted back.
const maxQuote = 80

// Quote is a text as it may stand in quotation marks in a question: short, on one
// line, with nothing in it that a chat, a terminal or a reader could take for
// more than words.
func Quote(text string) string {
	plainer := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case strings.ContainsRune("“”„\"«»「」『』‹›`", r):
			return '\''
		case r == '<', r == '[', r == '{':
			return '('
		case r == '>', r == ']', r == '}':
			return ')'
		case unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Cs), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return excerpt.Letters(strings.Join(strings.Fields(plainer), " "), maxQuote)
}

// valueAgain is the question that asks for a value again.
func valueAgain(q Context) string {
	return unclearValue + strings.TrimSpace(strings.TrimPrefix(q.Message, unclearValue))
}

// qualified reports whether a text says yes to something else than what was
// asked: a yes with words behind it, or words that begin with what should be
// different.
func qualified(said sentence) bool {
	if said.asks || said.hidden || strings.Contains(said.text, `"`) {
		return false
	}
	tokens, clauses := said.cut().tokens, said.cut().clauses()
	if slices.ContainsFunc(languages(), func(l *language) bool { return l.read(clauses, l.verdicts).sense != "" }) {
		return false // all of it is known, and is no answer: "yes, no"
	}
	return slices.ContainsFunc(languages(), func(l *language) bool {
		rest, yes := l.afterYes(tokens)
		if len(rest) == 0 || l.denying(rest) {
			return false
		}
		_, n := longest([]phrases{l.changing}, rest, 0)
		return yes || n > 0
	})
}

// afterYes cuts off the yes, the courtesies and the marks that a text begins with.
func (l *language) afterYes(tokens []token) (rest []token, yes bool) {
	for at := 0; at < len(tokens); {
		if tokens[at].mark {
			at++
			continue
		}
		p, n := longest([]phrases{l.verdicts}, tokens, at)
		if n == 0 || p.meaning != approves && p.meaning != polite && p.meaning != withYes {
			return tokens[at:], yes
		}
		yes = yes || p.meaning == approves
		at += n
	}
	return nil, yes
}

// denying reports whether a no of the language stands among words.
func (l *language) denying(tokens []token) bool {
	for at := range tokens {
		if p, n := longest([]phrases{l.verdicts}, tokens, at); n > 0 && p.meaning == denies {
			return true
		}
	}
	return false
}
