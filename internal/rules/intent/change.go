package intent

import (
	"slices"
	"strings"
)

// changeWanted reads a reply that asks for a change instead of a decision, and returns the change:
// "steer: add a test", "change: only the replica". If the person was offered to pass on an earlier
// reply, it also accepts "change it", or another text that begins with what should change. None of
// these approves anything.
func changeWanted(q Context, said sentence) (wanted string, ok bool) {
	if q.NoChange {
		return "", false
	}
	if wanted, ok := ordered(said); ok {
		return wanted, true
	}
	if q.Offered == "" || said.asks || said.hidden || strings.Contains(said.text, `"`) {
		return "", false
	}
	if sense, _ := agreed(said, changeIts); sense == changes {
		return q.Offered, true
	}
	tokens := said.cut().tokens
	if slices.ContainsFunc(languages(), func(l *language) bool {
		rest, _ := l.after(approves, tokens)
		return len(rest) > 1 && !l.denying(rest) && l.begins(rest)
	}) {
		return strings.TrimSpace(said.text), true
	}
	return "", false
}

// begins reports whether words begin with what should change, and continue.
func (l *language) begins(tokens []token) bool {
	_, n := l.longest(tokens, 0, changing)
	return n > 0 && n < len(tokens)
}

// steering is the word for another round, in all languages.
const steering = "steer"

// ordered parses "steer: add a test", steer "add a test" and, in each language, "change: only the
// replica".
func ordered(said sentence) (prompt string, ok bool) {
	if len(said.tokens) < 2 {
		return "", false
	}
	end := said.tokens[0].end
	if said.tokens[0].word != steering {
		if said.tokens[1].word != ":" ||
			!slices.ContainsFunc(languages(), func(l *language) bool { return l.ordersChange(said.tokens[0]) }) {
			return "", false
		}
	}
	prompt = strings.Trim(strings.TrimSpace(strings.TrimLeft(said.text[end:], ": ")), `"`)
	return prompt, prompt != ""
}

func (l *language) ordersChange(t token) bool {
	clause := sentence{tokens: []token{t}}.cut().tokens
	p, n := l.longest(clause, 0, changeIts)
	return n == len(clause) && p.meaning == changes
}
