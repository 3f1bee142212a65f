package reply

import (
	"slices"
	"strings"

	"ringback/internal/job"
)

// decide reads a reply where something is decided.
func decide(q Question, said sentence) Reading {
	if prompt, ok := steers(said); ok && q.Type == job.Review {
		return Reading{Outcome: Steer, Reason: prompt, Confidence: 1}
	}
	if said.hidden || said.asks || said.trails {
		return Reading{Outcome: Unclear}
	}
	if isOneOf(q.YesPhrases, said) {
		return Reading{Outcome: Approve, Confidence: 1}
	}
	if isOneOf(q.NoPhrases, said) {
		return Reading{Outcome: Deny, Confidence: 1}
	}
	if strings.Contains(said.text, `"`) {
		return Reading{Outcome: Unclear} // somebody's words, not theirs
	}
	if len(said.tokens) == 1 {
		if o, ok := abroad[said.tokens[0].word]; ok {
			return Reading{Outcome: o, Confidence: 1}
		}
	}
	tables := []phrases{verdicts, tradesOf(q)}
	if sense := senseOf(tables, said.clauses()); sense != "" {
		return Reading{Outcome: sense, Confidence: 1}
	}
	return denyWithReason(tables, said)
}

// isOneOf reports whether a text is one of the phrases, word by word.
func isOneOf(phrases []string, said sentence) bool {
	words := said.words()
	return slices.ContainsFunc(phrases, func(p string) bool { return parse(p).words() == words })
}

// steers reads "steer: add a test" and steer "add a test".
func steers(said sentence) (prompt string, ok bool) {
	if said.tokens[0].word != "steer" {
		return "", false
	}
	prompt = strings.Trim(strings.TrimSpace(strings.TrimLeft(said.text[said.tokens[0].end:], ": ")), `"`)
	return prompt, prompt != ""
}

// senseOf returns Approve or Deny where every word of every clause belongs to a
// phrase of the one and none to a phrase of the other; else "".
func senseOf(tables []phrases, clauses [][]token) Outcome {
	var sense Outcome
	for _, clause := range clauses {
		for len(clause) > 0 {
			meaning, n := longest(tables, clause)
			if n == 0 || meaning == doubt || sense != "" && meaning != polite && Outcome(meaning) != sense {
				return ""
			}
			if meaning != polite {
				sense = Outcome(meaning)
			}
			clause = clause[n:]
		}
	}
	return sense
}

// denyWithReason reads "no, the tests are red": a clear no, and then words that
// hold nothing of a yes. To take it for a no harms nobody.
func denyWithReason(tables []phrases, said sentence) Reading {
	cut := slices.IndexFunc(said.tokens, func(t token) bool { return t.mark || t.word == "because" })
	if cut < 1 {
		return Reading{Outcome: Unclear}
	}
	if senseOf(tables, [][]token{said.tokens[:cut]}) != Deny {
		return Reading{Outcome: Unclear}
	}
	rest := said.tokens[cut:]
	if slices.ContainsFunc(rest, func(t token) bool { return affirmative[t.word] }) {
		return Reading{Outcome: Unclear}
	}
	reason := strings.TrimLeft(said.text[rest[0].start:], " ,.;:!-\n")
	return Reading{Outcome: Deny, Reason: strings.TrimSpace(strings.TrimPrefix(reason, "because ")), Confidence: 1}
}

// cancels reports whether the person wants none of it any more.
func cancels(said sentence) bool {
	return !said.asks && !said.hidden && senseOf([]phrases{cancellations}, said.clauses()) == Cancel
}
