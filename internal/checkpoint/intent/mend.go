package intent

import (
	"slices"
	"unicode/utf8"

	"ringback/internal/spelling"
)

// shortest is the minimum number of letters of a word to be corrected. Shorter words are too
// similar to others.
const shortest = 6

// mend corrects misspelt words: those that differ from one of a few words of the language by one
// letter inside it that is wrong, missing, extra or swapped with the next. It does not change a
// word that is known in any language, and never corrects a word to a no.
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

// meant returns the only word that a word may be a misspelling of.
func (l *language) meant(word string) (string, bool) {
	if len(l.misspelt) == 0 || utf8.RuneCountInString(word) < shortest ||
		slices.ContainsFunc(languages(), func(l *language) bool { return l.known[word] }) {
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

// sameEnds reports whether two words have the same first and last letter. A difference there makes
// another form of the word, such as "approver".
func sameEnds(a, b string) bool {
	firstA, _ := utf8.DecodeRuneInString(a)
	firstB, _ := utf8.DecodeRuneInString(b)
	lastA, _ := utf8.DecodeLastRuneInString(a)
	lastB, _ := utf8.DecodeLastRuneInString(b)
	return firstA == firstB && lastA == lastB
}
