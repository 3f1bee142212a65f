package literal

import (
	"strings"
	"unicode"
)

// alike are the scripts that have letters similar to Latin ones.
var alike = []*unicode.RangeTable{
	unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu,
}

// latinTwins are the letters of these scripts that look the same as Latin ones.
const latinTwins = "аеорсухіјѕһԛԝԁӏАВЕКМНОРСТУХІЈЅԌԚԜҮ" + "ονρϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ" + "օոսհցյզՕՍ"

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }

// poses reports whether a word in another script can be mistaken for a Latin one: it mixes
// both scripts, or consists only of letters that look Latin. A single letter does not
// count.
func poses(word []rune) bool {
	latin, letters, twins := false, 0, 0
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.In(r, alike...):
			letters++
			if strings.ContainsRune(latinTwins, r) {
				twins++
			}
		}
	}
	return letters > 0 && (latin || letters == twins && letters > 1)
}

// looksLikeASCII reports whether a character outside these scripts looks like one of ASCII:
// a mathematical letter, a Roman numeral, or a sign that looks the same as a dash, a slash,
// a dot or the like.
func looksLikeASCII(r rune) bool {
	switch r {
	case '\u01c0', '\u01c3', '\u0251', '\u0261', '\u037e', '\u0589', '\u05c3', '\u2010', '\u2011', '\u2012', '\u2015', '\u2024',
		'\u2044', '\u2212', '\u2215', '\u2216', '\u2223', '\u2236', '\u223c', '\u29f5', '\ua789':
		return true
	}
	return r >= 0x1D400 && r <= 0x1D7FF || r >= 0x2160 && r <= 0x217F
}

// overlays reports whether a mark strikes out or encloses the letter before it.
func overlays(r rune) bool {
	return r >= 0x0334 && r <= 0x0338 || r >= 0x20D0 && r <= 0x20F0 || unicode.Is(unicode.Me, r)
}
