// Package spelling suggests corrections of misspelt words, and counts things in words.
package spelling

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
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

// NearestVariable returns the known environment variable that name may be a misspelling of; ""
// if there is none. Case and separators are ignored, and so is a prefix before name, such as
// RINGBACK_.
//
// Words are compared one by one, because an environment also holds the variables of other
// programs: unlike Nearest, it does not take GH_PAGER for GIT_PAGER or REDIS_TLS_URL for REDIS_URL.
func NearestVariable(name, prefix string, known []string) string {
	forms := [][]string{wordsOf(name)}
	if rest, ok := strings.CutPrefix(strings.ToUpper(name), prefix); ok && rest != "" {
		forms = append(forms, wordsOf(rest))
	}
	nearest, most := "", 2
	for _, one := range known {
		for _, form := range forms {
			if d := wordsApart(form, wordsOf(one)); d <= most {
				nearest, most = one, d-1
			}
		}
	}
	return nearest
}

func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

const farApart = 100

// wordsApart returns how far a name is from the one that may be meant: the number of mistakes, or
// farApart if it is another name.
func wordsApart(name, meant []string) int {
	letters := strings.Join(meant, "")
	whole := Distance(strings.Join(name, ""), letters)
	switch {
	case whole <= 1 && len(letters) > 6: // REDISURL
		return whole
	case len(meant) == 1 && len(name) == 1 && name[0][0] == meant[0][0] && whole <= (len(letters)+1)/4:
		return whole
	case len(meant) == 1:
		return farApart
	case len(name) == len(meant):
		sum := 0
		for i := range name {
			sum += wordApart(name[i], meant[i], i == len(name)-1)
		}
		return sum
	case len(name) == len(meant)+1 && slices.Equal(name, append(slices.Clip(meant), "FILE")): // as other programs read secrets
		return 1
	case len(name) > 2 && partOf(name, meant): // BUDGET_USD_DAY
		return 2
	}
	return farApart
}

// wordApart is wordsApart for single words. In the last one, an abbreviation or what it stands for is
// one mistake: LISTEN_ADDRESS, but not REDISCLOUD_URL.
func wordApart(word, meant string, last bool) int {
	short, long := word, meant
	if len(short) > len(long) {
		short, long = long, short
	}
	switch d := Distance(word, meant); {
	case d <= mayDiffer(meant):
		return d
	case last && len(short) > 2 && strings.HasPrefix(long, short):
		return 1
	}
	return farApart
}

// partOf reports whether all words of a name are in another one, in the same order.
func partOf(name, other []string) bool {
	for _, word := range other {
		if len(name) > 0 && name[0] == word {
			name = name[1:]
		}
	}
	return len(name) == 0
}
