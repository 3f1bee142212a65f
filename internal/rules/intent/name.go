package intent

import (
	"slices"
	"strconv"
	"strings"

	"ringback/internal/text/lazy"
)

// Worded reports whether a text is an asker's own wording of a yes or a no.
func Worded(q Context, text string) bool { return q.worded(parse(text)) != "" }

// WordingFault returns what is wrong with an asker's own wording of a yes (Approve) or a no (Deny);
// "" if nothing is. others are its wordings of the other answer.
func WordingFault(means Outcome, text string, others []string) string {
	said := parse(text)
	if isOneOf(others, said, sentence.words) {
		return "is a wording of both answers"
	}
	clauses := said.cut().clauses()
	reads := func(unwanted meaning, by table) bool {
		return slices.ContainsFunc(languages(), func(l *language) bool { return l.read(clauses, by) == unwanted })
	}
	_, change := ordered(said)
	switch {
	case change:
		return "asks for a change"
	case means == Approve && (reads(denies, verdicts) || reads(withdraw, cancels)):
		return "means no"
	case means == Deny && reads(approves, verdicts):
		return "means yes"
	}
	return ""
}

var (
	numberFirst = lazy.Regexp(`^#?(\d{1,2})(?:\s*[:,)\-]\s*|\.\s+|\s+|[.!]*$)(.*)$`)
	// anotherPlace matches what may name another question in the rest of a text: "1 and 2".
	anotherPlace = lazy.Regexp(`(?i)\d|\b(?:first|second|third|fourth|fifth|both|all|other)\b`)
)

// ByNumber reads "1" and "1: yes" as a reply to a list of count questions. It returns the index of
// the question and the rest of the text. It returns false if the text does not begin with the number
// of a question, or may name another one, too.
func ByNumber(count int, text string) (question int, rest string, ok bool) {
	m := numberFirst().FindStringSubmatch(strings.TrimSpace(parse(text).text))
	if m == nil {
		return 0, "", false
	}
	n, err := strconv.Atoi(m[1])
	return n - 1, strings.TrimSpace(m[2]), err == nil && n >= 1 && n <= count && !anotherPlace().MatchString(m[2])
}
