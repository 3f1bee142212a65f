package spelling

import (
	"slices"
	"strings"
	"unicode"
)

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
