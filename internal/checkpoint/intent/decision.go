package intent

import (
	"slices"
	"strings"
)

// decide reads a reply where something is decided.
func decide(q Context, said sentence) Reading {
	plain := !said.hidden && !said.asks && !said.trails
	if o := q.worded(said); plain && o != "" {
		return Reading{Outcome: o, Confidence: 1}
	}
	if wanted, ok := changeWanted(q, said); ok {
		return Reading{Outcome: Steer, Reason: wanted, Confidence: 1}
	}
	if !plain {
		return Reading{Outcome: Unclear}
	}
	if strings.Contains(said.text, `"`) {
		return Reading{Outcome: Unclear} // somebody's words, not theirs
	}
	v, _ := agreed(said, verdictTables(q))
	if v.sense == approves && said.oddMarks() == "" {
		return Reading{Outcome: Approve, Confidence: v.confidence()}
	}
	if v.sense == denies {
		return Reading{Outcome: Deny, Confidence: v.confidence()}
	}
	return denyWithReason(q, said)
}

// mendedConfidence is how sure a reading is for which a typing error was mended.
const mendedConfidence = 0.95

func (v verdict) confidence() float64 {
	if v.mended {
		return mendedConfidence
	}
	return 1
}

// verdictTables are those by which an answer to a question is read.
func verdictTables(q Context) func(*language) []phrases {
	trades := tradesOf(q)
	return func(l *language) []phrases {
		if l.Name == english {
			return append([]phrases{l.verdicts}, trades...)
		}
		return []phrases{l.verdicts}
	}
}

// worded returns Approve or Deny where a text is one of the asker's own wordings
// of it, word by word; else "".
func (q Context) worded(said sentence) Outcome {
	for _, form := range []func(sentence) string{sentence.spelled, sentence.words} {
		yes, no := isOneOf(q.YesPhrases, said, form), isOneOf(q.NoPhrases, said, form)
		switch {
		case yes && !no:
			return Approve
		case no && !yes:
			return Deny
		}
	}
	return ""
}

func isOneOf(phrases []string, said sentence, form func(sentence) string) bool {
	words := form(said)
	return words != "" && slices.ContainsFunc(phrases, func(text string) bool {
		p := parse(text)
		return form(p) == words && p.oddMarks() == said.oddMarks()
	})
}

// denyWithReason reads "no, the tests are red": a clear no, and then words that
// hold nothing of a yes. To take it for a no harms nobody.
func denyWithReason(q Context, said sentence) Reading {
	cut := slices.IndexFunc(said.tokens, func(t token) bool { return t.mark || t.word == "because" })
	if cut < 1 {
		return Reading{Outcome: Unclear}
	}
	head, rest := said, said.tokens[cut:]
	head.tokens = said.tokens[:cut]
	v, in := agreed(head, verdictTables(q))
	if v.sense != denies || v.mended || len(in.turns) == 0 || slices.ContainsFunc(rest, turns) {
		return Reading{Outcome: Unclear}
	}
	reason := strings.TrimLeft(said.text[rest[0].start:], " ,.;:!-\n")
	return Reading{Outcome: Deny, Reason: strings.TrimSpace(strings.TrimPrefix(reason, "because ")), Confidence: 1}
}

// turns reports whether a word may turn a no around, in any language.
func turns(t token) bool {
	return readSigns().answers[t.word] || slices.ContainsFunc(languages(), func(l *language) bool { return l.turns[t.word] })
}

// cancels reports whether the person wants none of it any more.
func cancels(said sentence) bool {
	if said.asks || said.hidden {
		return false
	}
	v, _ := agreed(said, func(l *language) []phrases { return []phrases{l.cancels} })
	return v.sense == withdraw
}
