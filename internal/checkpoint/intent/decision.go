package intent

import (
	"slices"
	"strings"
)

// decide interprets a reply to a question that asks for a decision.
func decide(q Context, said sentence) Reading {
	plain := !said.hidden && !said.asks && !said.trails
	if o := q.worded(said); plain && o != "" {
		return Reading{Outcome: o}
	}
	if wanted, ok := changeWanted(q, said); ok {
		return Reading{Outcome: Steer, Reason: wanted}
	}
	if !plain {
		return Reading{Outcome: Unclear}
	}
	if strings.Contains(said.text, `"`) {
		return Reading{Outcome: Unclear} // a quotation, not the person's own words
	}
	if withdraws(said, func(l *language) []phrases { return []phrases{l.jobCancels} }) {
		return Reading{Outcome: Cancel}
	}
	sense, _ := agreed(said, verdictTables(q))
	if sense == approves && said.oddMarks() == "" {
		return Reading{Outcome: Approve}
	}
	if sense == denies {
		return Reading{Outcome: Deny, SaidCancel: cancels(said)}
	}
	return denyWithReason(q, said)
}

// verdictTables returns the tables for interpreting an answer to a question.
func verdictTables(q Context) func(*language) []phrases {
	trades := tradesOf(q)
	return func(l *language) []phrases {
		if l.Name == english {
			return append([]phrases{l.verdicts}, trades...)
		}
		return []phrases{l.verdicts}
	}
}

// worded returns Approve or Deny if a text is exactly one of the asker's own wordings of it;
// otherwise "".
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

// denyWithReason reads "no, the tests are red": a clear no, followed by words without any yes.
// Taking it for a no does no harm.
func denyWithReason(q Context, said sentence) Reading {
	cut := slices.IndexFunc(said.tokens, func(t token) bool { return t.mark || t.word == "because" })
	if cut < 1 {
		return Reading{Outcome: Unclear}
	}
	head, rest := said, said.tokens[cut:]
	head.tokens = said.tokens[:cut]
	sense, in := agreed(head, verdictTables(q))
	if sense != denies || len(in.turns) == 0 || in.mayTurn(rest) {
		return Reading{Outcome: Unclear}
	}
	reason := strings.TrimLeft(said.text[rest[0].start:], " ,.;:!-\n")
	return Reading{Outcome: Deny, Reason: strings.TrimSpace(strings.TrimPrefix(reason, "because "))}
}

// mayTurn reports whether the words after a no may reverse it, in any language. A clause that
// begins with what should change, such as "use go build instead", does not.
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

// turns reports whether a phrase that may reverse a no is at an index, in any language.
func turns(clause []token, at int) bool {
	return slices.ContainsFunc(languages(), func(l *language) bool {
		_, n := longest([]phrases{l.turns}, clause, at)
		return n > 0
	})
}

// cancels reports whether the person wants to stop altogether.
func cancels(said sentence) bool {
	return withdraws(said, func(l *language) []phrases { return []phrases{l.cancels} })
}

// withdraws reports whether a text is a cancellation by the given tables.
func withdraws(said sentence, tables func(*language) []phrases) bool {
	sense, _ := agreed(said, tables)
	return sense == withdraw && !said.asks && !said.hidden
}
