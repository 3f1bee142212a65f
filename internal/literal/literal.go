// Package literal writes texts that others chose, so that people see each character of them: a
// value keeps to its quotes, and nothing is invisible, moves other characters, steers a terminal
// or looks like another character.
package literal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a character is not seen, or changes how others are shown. A line break
// and a tab are hidden, too: callers for which they are layout let them pass.
func Hidden(r rune) bool {
	switch r {
	case ' ':
		return false
	case '\u2800': // a pattern of dots without dots
		return true
	}
	return unicode.In(r, unicode.C, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Text returns a text as people may read it, with a mark in place of each hidden character. Line
// breaks, tabs and spaces of any width stay. So do joiners in scripts and emoji that need them.
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
	// firstJoined is the first character behind which a joiner means something.
	firstJoined = '\u0590'
	// mostMarks is how many marks of one letter are writing; more of them cover other lines.
	mostMarks = 4
)

// joins reports whether a character joins its neighbours, or chooses how the one before looks.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' || r == '\ufe0f' }

// Quote returns a text as JSON writes it, in quotes that it cannot close.
func Quote(text string) string { return Value(text) }

// Value returns a value in one line of JSON.
func Value(v any) string { return encode(v, "") }

// Indented returns a value in lines of JSON, its keys sorted: neither their order nor how
// it was written is its author's choice.
func Indented(v any) string { return encode(v, "  ") }

func encode(v any, indent string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return "" // it was not read from JSON
	}
	return JSON(strings.TrimSuffix(out.String(), "\n"))
}

// JSON returns JSON that means the same and in which each character is seen: hidden ones and
// those that look like others are written as \u escapes, and no others are.
func JSON(text string) string {
	var out strings.Builder
	escape := escaped([]rune(text))
	at := 0
	for _, r := range text {
		if escape[at] {
			writeEscape(&out, r)
		} else {
			out.WriteRune(r)
		}
		at++
	}
	return out.String()
}

func writeEscape(out io.Writer, r rune) {
	for _, unit := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(out, `\u%04x`, unit)
	}
}

// escaped says of each character of a JSON text whether it is written as an escape.
func escaped(text []rune) []bool {
	escape := make([]bool, len(text))
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && inWord(text[to]) {
			to++
		}
		foreign := poses(text[from:to])
		marks := 0
		for at := from; at < to; at++ {
			r := text[at]
			if marks++; !unicode.IsMark(r) {
				marks = 0
			}
			escape[at] = Hidden(r) || overlays(r) || looksLikeASCII(r) || foreign && unicode.In(r, alike...) ||
				marks > mostMarks || marks > 0 && at == from // nothing to stand on but what is ours
		}
		if to < len(text) {
			r := text[to]
			escape[to] = r != '\n' && Hidden(r) || looksLikeASCII(r)
			to++
		}
		from = to
	}
	return escape
}

// Lines returns the lines of a text as it was written, for texts that are read by the line, such
// as programs: each character that JSON would write as an escape to show it is named in ⟨ and ⟩,
// and so are spaces at the end of a line and these brackets themselves.
func Lines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return lines
}

// Line returns one of Lines.
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
