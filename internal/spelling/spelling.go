// Package spelling suggests corrections of misspelt words.
package spelling

import "strings"

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
func Nearest(word string, known []string) string {
	nearest, most := "", 2
	for _, one := range known {
		if d := Distance(letters(word), letters(one)); d <= most && d <= mayDiffer(one) {
			nearest, most = one, d-1
		}
	}
	return nearest
}

// Known lists the known fields, for an error about an unknown one. It begins with the one
// that was probably meant.
func Known(name string, known []string) string {
	list := "no fields are allowed here"
	if len(known) > 0 {
		list = "allowed: " + strings.Join(known, ", ")
	}
	if meant := Nearest(name, known); meant != "" {
		return "did you mean " + meant + "? " + list
	}
	return list
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
