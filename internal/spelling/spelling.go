// Package spelling suggests corrections of misspelt words, and counts things in words.
package spelling

import (
	"strconv"
	"strings"
)

// Distance returns the optimal string alignment distance of two words: the number of bytes
// to change, add, remove or swap with their neighbour.
func Distance(a, b string) int {
	var last []int
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		last, before, row = before, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], last[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// Nearest returns the known word that word may be a misspelling of; "" if there is none.
// Case and separators are ignored, and short words may differ less than long ones.
func Nearest[T ~string](word string, known []T) string {
	nearest, most := "", 2
	for _, one := range known {
		if d := Distance(letters(word), letters(string(one))); d <= most && d <= mayDiffer(string(one)) {
			nearest, most = string(one), d-1
		}
	}
	return nearest
}

// Known lists the known names or fields, for an error about an unknown one. It begins with the one
// that was probably meant.
func Known[T ~string](name string, known []T) string {
	if len(known) == 0 {
		return "no fields are allowed here"
	}
	return Meant(name, known) + "allowed: " + List(known)
}

// Meant asks for the known name that was probably meant, and ends with a space; "" if there is none.
func Meant[T ~string](name string, known []T) string {
	if meant := Nearest(name, known); meant != "" {
		return "did you mean " + meant + "? "
	}
	return ""
}

// Count returns a number of things, each of which has this name.
func Count(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return strconv.Itoa(n) + " " + name + "s"
}

// List lists names for a sentence.
func List[T ~string](names []T) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}

func mayDiffer(word string) int {
	switch {
	case len(word) < 3:
		return 0
	case len(word) > 6:
		return 2
	}
	return 1
}

func letters(word string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", "$", "").Replace(word))
}
