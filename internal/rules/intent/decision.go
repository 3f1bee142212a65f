package intent

import (
	"slices"
	"strings"

	"ringback/internal/job"
)

func decide(q Context, said sentence) Reading {
	plain := !said.hidden && !said.asks && !said.trails
	if o := q.worded(said); plain && o != "" {
		return Reading{Outcome: o}
	}
	if wanted, ok := changeWanted(q, said); ok {
		return Reading{Outcome: Steer, Reason: wanted}
	}
	if !plain || strings.Contains(said.text, `"`) { // a quotation is not the person's own words
		return Reading{Outcome: Unclear}
	}
	if withdraws(said, jobCancels) {
		return Reading{Outcome: Cancel}
	}
	sense, _ := agreed(said, verdicts, tradesOf(q)...)
	if sense == approves && said.oddMarks() == "" {
		return Reading{Outcome: Approve}
	}
	if sense == denies {
		return Reading{Outcome: Deny, SaidCancel: withdraws(said, cancels)}
	}
	return denyWithReason(q, said)
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
// Taking it for a no does no harm, except at a review: a no ends the job there, although any words
// behind it may ask for another round. So only "reject: …" has a reason there.
func denyWithReason(q Context, said sentence) Reading {
	rest, in := afterNo(q, said)
	if rest == nil || len(in.tables[turns]) == 0 || mayTurn(q, rest) {
		return Reading{Outcome: Unclear}
	}
	reason := strings.TrimLeft(said.text[rest[0].start:], " ,.;:!-\n、。")
	return Reading{Outcome: Deny, Reason: strings.TrimSpace(strings.TrimPrefix(reason, "because "))}
}

// longestNo is the maximum number of words and marks of a no in front of its reason.
const longestNo = 8

// afterNo returns the words after the no with which a text begins, and the language of that no. The
// no ends at a mark, at "because" or after a courtesy, as in "no thanks"; nil if there is no such
// no.
func afterNo(q Context, said sentence) (rest []token, in *language) {
	no := verdicts
	if q.Type == job.Review {
		no = rejections
	}
	for at := 1; at < min(len(said.tokens), longestNo); at++ {
		t := said.tokens[at]
		if !t.mark && t.word != "because" && !courtesies()[said.tokens[at-1].word] {
			continue
		}
		head := said
		head.tokens = said.tokens[:at]
		if sense, in := agreed(head, no, tradesOf(q)...); sense == denies {
			return said.tokens[at:], in
		}
	}
	return nil, nil
}

// mayTurn reports whether the words after a no may reverse it, in any language: because a clause of
// them is a yes, or contains a phrase that may turn a no around. A clause that begins with what
// should change, such as "use go build instead", does not reverse it.
func mayTurn(q Context, rest []token) bool {
	return slices.ContainsFunc(sentence{tokens: rest}.cut().clauses(), func(clause []token) bool {
		for len(clause) > 1 && courtesies()[clause[0].word] {
			clause = clause[1:]
		}
		_, changed := longest(clause, 0, changing)
		_, turned := longest(clause, 0, turns)
		begins := changed > turned && changed < len(clause)
		if q.Type == job.Review && (begins || speaksOfOther(clause)) || !begins && hasTurn(clause) {
			return true
		}
		return slices.ContainsFunc(languages(), func(l *language) bool { return l.agrees(clause, tradesOf(q)) })
	})
}

// agrees reports whether a clause is in words that are, or accompany, a yes.
func (l *language) agrees(clause []token, trades []phrases) (agrees bool) {
	for at := 0; at < len(clause); {
		p, n := l.longest(clause, at, verdicts, trades...)
		if n == 0 || p.meaning == denies {
			return false
		}
		agrees = agrees || p.meaning == approves || p.meaning == withYes || p.meaning == doubt
		at += n
	}
	return agrees
}

func hasTurn(clause []token) bool {
	for at, t := range clause {
		p, n := longest(clause, at, turns)
		if readSigns().answers[t.word] || n > 0 && (!p.first || !speaksOfOther(clause)) {
			return true
		}
	}
	return false
}

// speaksOfOther reports whether a clause contains a phrase that makes it one about something else,
// although it begins like an order: "go build is better".
func speaksOfOther(clause []token) bool {
	for at := range clause {
		if _, n := longest(clause, at, others); n > 0 {
			return true
		}
	}
	return false
}

// withdraws reports whether a text is a cancellation by a table. A no may precede it: "no, cancel the
// job". Behind it, a no takes it back.
func withdraws(said sentence, by table) bool {
	if sense, _ := agreed(said, by); sense != withdraw || said.asks || said.hidden || said.trails || said.oddMarks() != "" {
		return false
	}
	clauses := said.cut().clauses()
	last := clauses[len(clauses)-1:]
	return !slices.ContainsFunc(languages(), func(l *language) bool {
		return l.read(last, by) == "" && l.read(last, verdicts) == denies
	})
}
