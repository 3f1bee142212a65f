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
	if cancelsJob(said) {
		return Reading{Outcome: Cancel, Confidence: 1}
	}
	v, _ := agreed(said, verdictTables(q))
	if v.sense == approves && said.oddMarks() == "" {
		return Reading{Outcome: Approve, Confidence: v.confidence()}
	}
	if v.sense == denies {
		return Reading{Outcome: Deny, Confidence: v.confidence(), SaidCancel: cancels(said)}
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
	if v.sense != denies || v.mended || len(in.turns) == 0 || in.mayTurn(rest) {
		return Reading{Outcome: Unclear}
	}
	reason := strings.TrimLeft(said.text[rest[0].start:], " ,.;:!-\n")
	return Reading{Outcome: Deny, Reason: strings.TrimSpace(strings.TrimPrefix(reason, "because ")), Confidence: 1}
}

// mayTurn reports whether what follows a no may turn it around, in any language. What begins with
// what should be different instead, such as "use go build instead", does not.
func (l *language) mayTurn(rest []token) bool {
	clauses := sentence{tokens: rest}.cut().clauses()
	if len(clauses) > 0 && l.begins(clauses[0]) && !turns(clauses[0], 0) {
		clauses = clauses[1:]
	}
	return slices.ContainsFunc(clauses, func(clause []token) bool {
		for at, t := range clause {
			if readSigns().answers[t.word] || turns(clause, at) {
				return true
			}
		}
		return false
	})
}

// turns reports whether a phrase that may turn a no around is at a place, in any language.
func turns(clause []token, at int) bool {
	return slices.ContainsFunc(languages(), func(l *language) bool {
		_, n := longest([]phrases{l.turns}, clause, at)
		return n > 0
	})
}

// cancelsJob reports whether the person gives the whole job up, and says so.
func cancelsJob(said sentence) bool {
	if said.asks || said.hidden {
		return false
	}
	v, _ := agreed(said, func(l *language) []phrases { return []phrases{l.jobCancels} })
	return v.sense == withdraw
}

// cancels reports whether the person wants none of it any more.
func cancels(said sentence) bool {
	if said.asks || said.hidden {
		return false
	}
	v, _ := agreed(said, func(l *language) []phrases { return []phrases{l.cancels} })
	return v.sense == withdraw
}
