package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"ringback/internal/excerpt"
	"ringback/internal/lazy"
)

// tabStop is how many columns a tab takes at most.
const tabStop = 8

// cells is how many columns of a terminal a character takes, at most.
func cells(r rune) int {
	switch {
	case r == '\t':
		return tabStop
	case r >= 0x1F000 && r < 0x1FB00: // symbols that some terminals show wide
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
	}
	if unicode.In(r, unicode.Mn, unicode.Me) && r != '\ufe0f' { // that one may make the character before it wide
		return 0
	}
	return 1
}

// cellsOf is how many columns a text takes.
func cellsOf(text string) (n int) {
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// cut is the beginning of a text that so many columns have room for, and the rest.
func cut(text string, room int) (first, rest string) {
	used := 0
	for at, r := range text {
		if used += cells(r); used > room && at > 0 {
			return text[:at], text[at:]
		}
	}
	return text, ""
}

// fitted is the beginning of a text, with a mark if it is cut.
func fitted(text string, room int) string {
	if cellsOf(text) <= room {
		return text
	}
	first, _ := cut(text, room-1)
	return first + excerpt.Mark
}

// counted is fitted for a text of its own row: if it is cut, it says by how much.
func counted(text string, room int) string {
	if cellsOf(text) <= room {
		return text
	}
	first, rest := cut(text, max(1, room-cellsOf(more(text))))
	return first + more(rest)
}

// more stands in the place of the rest of a text.
func more(rest string) string {
	return fmt.Sprintf("%s %d more characters", excerpt.Mark, utf8.RuneCountInString(rest))
}

// painted finds the colours in a text of ours.
var painted = lazy.Regexp("\x1b\\[[0-9]*m")

// hang prints a text below a heading of our own: first stands before its first row, and rest
// before each other one, be it a line of the text or the part of a line for which there was no
// room. So no row of the terminal begins with what others have written.
func (p printer) hang(first, rest, color, text string) {
	taken := max(cellsOf(painted().ReplaceAllString(first, "")), cellsOf(rest))
	for line := range strings.SplitSeq(cleanLines(text), "\n") {
		for {
			row := line
			if p.columns > 0 {
				row, line = cutAtWord(line, max(20, p.columns-1-taken))
			} else {
				line = ""
			}
			p.printf("%s\n", strings.TrimRight(first+p.paint(color, row), " "))
			if first = rest; line == "" {
				break
			}
		}
	}
}

// cutAtWord is cut, between two words if there are short ones.
func cutAtWord(text string, room int) (row, rest string) {
	row, rest = cut(text, room)
	if at := strings.LastIndexByte(row, ' '); rest != "" && at > len(row)/2 {
		return row[:at], text[at+1:]
	}
	return row, rest
}

// lines prints the lines of a value, each behind a bar. One that goes on in the next row has another
// bar there, so that nobody takes the rest for a line of its own.
func (p printer) lines(margin string, lines []string) {
	for _, line := range lines {
		for bar := "│ "; ; bar = "┆ " {
			row, rest := line, ""
			if p.columns > 0 {
				row, rest = cut(line, max(20, p.columns-1-len(margin)-2))
			}
			p.printf("%s%s%s\n", margin, p.paint(faint, bar), cleanCode(row))
			if line = rest; rest == "" {
				break
			}
		}
	}
}
