// Package excerpt shortens long texts for people, logs and prompts. It never splits a
// character, because half of one is displayed as � or rejected; omitted text is replaced by
// … .
package excerpt

import "unicode/utf8"

// Mark replaces omitted text.
const Mark = "…"

// Head returns the beginning of a text, limited to a number of bytes, including the mark.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return First(text, most-len(Mark)) + Mark
}

// Tail returns the end of a text, limited to a number of bytes, including the mark.
func Tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return Mark + Last(text, most-len(Mark))
}

// Letters returns the beginning of a text, limited to a number of code points, including
// the mark.
func Letters(text string, most int) string {
	letters := []rune(text)
	if len(letters) <= max(most, 0) {
		return text
	}
	return string(letters[:max(most-1, 0)]) + Mark
}

// First is Head without the mark, for a text that continues elsewhere.
func First(text string, most int) string {
	most = max(most, 0)
	if len(text) <= most {
		return text
	}
	for cut := most; cut > most-utf8.UTFMax && cut >= 0; cut-- {
		if utf8.RuneStart(text[cut]) {
			return text[:cut]
		}
	}
	return text[:most] // not UTF-8: there are no characters to split
}

// Last is Tail without the mark.
func Last(text string, most int) string {
	most = max(most, 0)
	if len(text) <= most {
		return text
	}
	from := len(text) - most
	for cut := from; cut < from+utf8.UTFMax; cut++ {
		if cut == len(text) || utf8.RuneStart(text[cut]) {
			return text[cut:]
		}
	}
	return text[from:]
}
