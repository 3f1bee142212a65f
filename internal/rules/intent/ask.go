package intent

import (
	"slices"
	"strings"
	"unicode"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
)

// asking contains a language's sentences for asking a person back. {{reply}} is replaced by the
// person's text.
type asking struct {
	// Qualified and QualifiedReview respond to a yes with a condition, Unclear to a text that is
	// neither a yes nor a no.
	Qualified       string `yaml:"qualified"`
	QualifiedReview string `yaml:"qualified_review"`
	Unclear         string `yaml:"unclear"`
	// Answer and AnswerReview explain the possible answers. The other two are used after a yes with
	// a condition.
	Answer               string `yaml:"answer"`
	AnswerOrChange       string `yaml:"answer_or_change"`
	AnswerReview         string `yaml:"answer_review"`
	AnswerOrChangeReview string `yaml:"answer_or_change_review"`
}

// askBack returns the reading of an unclear decision, with the question to ask back. The question
// responds to the text in the text's language. It does not repeat the message of a review.
func askBack(q Context, said sentence, text string) Reading {
	r := Reading{Outcome: Unclear}
	words := sentencesOf(said)
	begins, ends := words.Unclear, words.Answer
	if q.Type == job.Review {
		ends = words.AnswerReview
	}
	if qualified(q, said) {
		begins = words.Qualified
		if !q.NoChange {
			r.Offer, ends = strings.TrimSpace(text), words.AnswerOrChange
		}
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

// sentencesOf returns the sentences of the language that knows most of a text's words. It returns
// English if several know as many, or if that language has none.
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

func (l *language) knows(tokens []token) int {
	known := 0
	for at := 0; at < len(tokens); {
		most := 0
		for _, by := range [...]table{verdicts, changeIts, changing, turns, evasions} {
			_, n := l.longest(tokens, at, by)
			most = max(most, n)
		}
		known += most
		at += max(1, most)
	}
	return known
}

const maxQuote = 80

// Quote makes a text safe for quotation marks in a question: short, on one line, and without
// anything that a chat, a terminal or a reader could take for more than words.
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

// qualified reports whether a text agrees to something other than the question: a yes followed by
// more words, or words that begin with what should change. At a review, so does a no followed by more
// words.
func qualified(q Context, said sentence) bool {
	if said.hidden {
		return false
	}
	tokens, clauses := said.cut().tokens, said.cut().clauses()
	if slices.ContainsFunc(languages(), func(l *language) bool { return l.read(clauses, verdicts) != "" }) {
		return false // every word is known, but not an answer: "yes, no"
	}
	if q.Type == job.Review && slices.ContainsFunc(languages(), func(l *language) bool {
		rest, no := l.after(denies, tokens)
		return no && len(rest) > 0
	}) {
		return true
	}
	return !said.asks && !strings.Contains(said.text, `"`) && slices.ContainsFunc(languages(), func(l *language) bool {
		rest, yes := l.after(approves, tokens)
		if len(rest) == 0 || l.denying(rest) {
			return false
		}
		_, n := l.longest(rest, 0, changing)
		return yes || n > 0
	})
}

// after removes an answer (a yes or a no), the courtesies and the marks at the beginning of a text.
func (l *language) after(answer meaning, tokens []token) (rest []token, found bool) {
	for at := 0; at < len(tokens); {
		if tokens[at].mark {
			at++
			continue
		}
		p, n := l.longest(tokens, at, verdicts)
		if n == 0 || p.meaning != answer && p.meaning != polite && beside[p.meaning] != answer {
			return tokens[at:], found
		}
		found = found || p.meaning == answer
		at += n
	}
	return nil, found
}

func (l *language) denying(tokens []token) bool {
	for at := range tokens {
		if p, n := l.longest(tokens, at, verdicts); n > 0 && p.meaning == denies {
			return true
		}
	}
	return false
}
