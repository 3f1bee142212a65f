package intent

import (
	"slices"
	"unicode/utf8"

	"ringback/internal/spelling"
)

// shortest is how many letters a word must have to be mended: shorter ones are
// too near to others.
const shortest = 6

// mend puts the right word in the place of one that is misspelt: one of a few
// words of the language, with one letter inside it wrong, missing, too many or
// swapped with the next. A word that means anything by itself in any language
// stays as it is, and no word of a no is ever mended into.
func (l *language) mend(clauses [][]token) (mended [][]token, changed bool) {
	for i, clause := range clauses {
		for k, t := range clause {
			word, ok := l.meant(t.word)
			if !ok {
				continue
			}
			if !changed {
				clauses = slices.Clone(clauses)
			}
			clauses[i] = slices.Clone(clauses[i])
			clauses[i][k].word, changed = word, true
		}
	}
	return clauses, changed
}

// meant is the only word that one may be a misspelling of.
func (l *language) meant(word string) (string, bool) {
	if len(l.misspelt) == 0 || utf8.RuneCountInString(word) < shortest || slices.ContainsFunc(languages(), func(l *language) bool { return l.known[word] }) {
		return "", false
	}
	var near []string
	for _, candidate := range l.misspelt {
		if sameEnds(candidate, word) && spelling.Distance(candidate, word) == 1 {
			near = append(near, candidate)
		}
	}
	if len(near) != 1 {
		return "", false
	}
	return near[0], true
}

// sameEnds reports whether two words begin and end with the same letter: what
// differs there is another form of the word, such as "approver".
func sameEnds(a, b string) bool {
	firstA, _ := utf8.DecodeRuneInString(a)
	firstB, _ := utf8.DecodeRuneInString(b)
	lastA, _ := utf8.DecodeLastRuneInString(a)
	lastB, _ := utf8.DecodeLastRuneInString(b)
	return firstA == firstB && lastA == lastB
}
