// Package excerpt shortens texts: what a person, a log or a prompt gets to see of
// one that is long. No letter is ever split, for half a letter is shown as � or
// refused; where something was left out stands a … .
package excerpt

import "unicode/utf8"

// Mark stands where something was left out.
const Mark = "…"

// Head is the beginning of a text, of at most so many bytes, the mark included.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return First(text, most-len(Mark)) + Mark
}

// Tail is the end of a text, of at most so many bytes, the mark included.
func Tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return Mark + Last(text, most-len(Mark))
}

// Letters is the beginning of a text, of at most so many letters (code points),
// the mark included.
func Letters(text string, most int) string {
	letters := 0
	end := 0 // of all letters but the last that there is room for
	for at := range text {
		if letters == most-1 {
			end = at
		}
		if letters++; letters > most {
			return text[:end] + Mark
		}
	}
	return text
}

// First is Head without the mark, for what is read on elsewhere.
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
	return text[:most] // this is no UTF-8: nothing can be split
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
