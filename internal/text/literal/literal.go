// Package literal displays untrusted texts so that every character is visible: a value
// cannot escape its quotes, and no character is invisible, moves others, controls a
// terminal or looks like another.
package literal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Hidden reports whether a character is invisible or changes how others are displayed. Line
// breaks and tabs count as hidden; callers that use them for layout must exempt them.
func Hidden(r rune) bool {
	switch r {
	case ' ':
		return false
	case '\u2800': // a Braille pattern without dots
		return true
	}
	return unicode.In(r, unicode.C, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Text returns a text for display, with a replacement character in place of each hidden
// one. Line breaks, tabs and spaces of any width are kept, and so are joiners in scripts
// and emoji that need them.
func Text(text string) string {
	var before rune
	marks := 0
	return strings.Map(func(r rune) rune {
		shown := r
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		switch {
		case r == '\n', r == '\t', unicode.Is(unicode.Zs, r), joins(r) && before >= firstJoined:
		case Hidden(r), marks > mostMarks:
			shown = unicode.ReplacementChar
		}
		before = r
		return shown
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

const (
	// firstJoined is the first character after which a joiner has a meaning.
	firstJoined = '\u0590'
	// mostMarks is the maximum number of combining marks on one letter; more would cover
	// other lines.
	mostMarks = 4
)

// joins reports whether a character joins its neighbours, or selects the form of the
// previous one.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' || r == '\ufe0f' }

// Quote returns a text as a JSON string; it cannot close its quotes.
func Quote(text string) string { return Value(text) }

// Value returns a value in one line of JSON.
func Value(v any) string { return encode(v, "") }

// Indented returns a value as indented JSON with sorted keys: its author controls neither
// their order nor the layout.
func Indented(v any) string { return encode(v, "  ") }

func encode(v any, indent string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return "" // the value did not come from JSON
	}
	return JSON(strings.TrimSuffix(out.String(), "\n"))
}

// JSON returns equivalent JSON in which each character is visible: only hidden and
// look-alike characters are written as \u escapes.
func JSON(text string) string {
	var out strings.Builder
	escape := escaped([]rune(text))
	at := 0
	for _, r := range text {
		if escape[at] {
			WriteEscape(&out, r)
		} else {
			out.WriteRune(r)
		}
		at++
	}
	return out.String()
}

// WriteEscape writes a character as its \u escapes in JSON.
func WriteEscape(out io.Writer, r rune) {
	for _, unit := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(out, `\u%04x`, unit)
	}
}

// escaped reports for each character of a JSON text whether it must be written as an
// escape.
func escaped(text []rune) []bool {
	escape := make([]bool, len(text))
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && inWord(text[to]) {
			to++
		}
		escapeWord(text[from:to], escape[from:to])
		if to < len(text) {
			r := text[to]
			escape[to] = r != '\n' && Hidden(r) || looksLikeASCII(r)
			to++
		}
		from = to
	}
	return escape
}

func escapeWord(word []rune, escape []bool) {
	foreign, marks := poses(word), 0
	for at, r := range word {
		if marks++; !unicode.IsMark(r) {
			marks = 0
		}
		stray := marks > mostMarks || marks > 0 && at == 0 // no preceding letter except our own text
		escape[at] = stray || Hidden(r) || overlays(r) || looksLikeASCII(r) || foreign && unicode.In(r, alike...)
	}
}

// Lines returns the lines of a text for languages that are read line by line, such as
// programs. Each character that JSON would escape is shown by its code in ⟨ and ⟩, and so
// are spaces at the end of a line and these brackets themselves.
func Lines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return lines
}

// Line is Lines for a single line.
func Line(line string) string {
	var out strings.Builder
	runes := []rune(line)
	escape := escaped(runes)
	end := len(strings.TrimRight(line, " \t"))
	at := 0
	for i, r := range runes {
		if r != '\t' && escape[i] || at >= end || r == '⟨' || r == '⟩' {
			fmt.Fprintf(&out, "⟨U+%04X⟩", r)
		} else {
			out.WriteRune(r)
		}
		at += utf8.RuneLen(r)
	}
	return out.String()
}

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

// Host returns the host that an address of the web leads to, in ASCII as browsers send it, so
// that no letter of another script poses as another. ok is false if it is none of the web.
func Host(to *url.URL) (host string, ok bool) {
	host = strings.ToLower(to.Hostname())
	if net.ParseIP(host) == nil {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", false
		}
		host = ascii
	}
	return host, (to.Scheme == "http" || to.Scheme == "https") && host != ""
}

// Address returns an address of the web in visible ASCII, without characters that end or
// divide a link, and the host that it leads to. ok is false if it is none of the web.
func Address(text string) (address, host string, ok bool) {
	to, err := url.Parse(text)
	if err != nil {
		return "", "", false
	}
	if host, ok = Host(to); !ok {
		return "", "", false
	}
	port := to.Port()
	to.Host = host
	if strings.Contains(host, ":") {
		to.Host = "[" + host + "]"
	}
	if port != "" {
		to.Host += ":" + port
	}
	return escapeAddress(to.String()), host, true
}

func escapeAddress(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if b <= ' ' || b >= 0x7f || strings.IndexByte("\"'<>\\^`{|}", b) >= 0 {
			fmt.Fprintf(&out, "%%%02X", b)
			continue
		}
		out.WriteByte(b)
	}
	return out.String()
}
