package cli

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
	"ringback/internal/text/literal"
)

const tabStop = 8

// leastRoom is the minimum width of a text in columns. It is less than the narrowest terminal leaves
// beside a margin, so that no row is wrapped by the terminal.
const leastRoom = 8

// cells returns the maximum width of a character in terminal columns.
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
	if unicode.In(r, unicode.Mn, unicode.Me) && r != '\ufe0f' { // U+FE0F may make the previous character wide
		return 0
	}
	return 1
}

func cellsOf(text string) (n int) {
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// cut splits a text after as many characters as fit into room columns, but at least one.
func cut(text string, room int) (first, rest string) {
	used := 0
	for at, r := range text {
		if used += cells(r); used > room && at > 0 {
			return text[:at], text[at:]
		}
	}
	return text, ""
}

// fitted returns the text, cut to the width and marked if it is too long.
func fitted(text string, room int) string {
	if cellsOf(text) <= room {
		return text
	}
	first, _ := cut(text, room-1)
	return first + excerpt.Mark
}

// counted is fitted for a text on its own row; if it is cut, it shows how many characters are
// missing.
func counted(text string, room int) string {
	if cellsOf(text) <= room {
		return text
	}
	first, rest := cut(text, max(1, room-cellsOf(more(text))))
	return first + more(rest)
}

// more replaces the rest of a text.
func more(rest string) string {
	return fmt.Sprintf("%s %d more characters", excerpt.Mark, utf8.RuneCountInString(rest))
}

// painted matches colour codes in Ringback's own text.
var painted = lazy.Regexp("\x1b\\[[0-9]*m")

// hang prints a text below a heading of Ringback's. first precedes its first row, and rest every
// other row, both for new lines and for wrapped ones. So no row of the terminal begins with
// untrusted text.
func (p printer) hang(first, rest, color, text string) {
	taken := max(cellsOf(painted().ReplaceAllString(first, "")), cellsOf(rest))
	if p.columns > 0 && p.columns-1-taken < leastRoom && taken > cellsOf(rest) { // no room beside the heading
		p.printf("%s\n", strings.TrimRight(first, " "))
		first, taken = rest, cellsOf(rest)
	}
	for line := range strings.SplitSeq(cleanLines(text), "\n") {
		for row := range p.cutRows(line, taken, cutAtWord) {
			p.printf("%s\n", strings.TrimRight(first+p.paint(color, row), " "))
			first = rest
		}
	}
}

// cutAtWord is cut, but between two words if the last one is short.
func cutAtWord(text string, room int) (row, rest string) {
	row, rest = cut(text, room)
	if at := strings.LastIndexByte(row, ' '); rest != "" && at > len(row)/2 {
		return row[:at], text[at+1:]
	}
	return row, rest
}

// lines prints the lines of a value, each after a bar. A wrapped row gets a different bar, so that
// it cannot be mistaken for a separate line.
func (p printer) lines(margin string, lines []string) {
	for _, line := range lines {
		bar := "│ "
		for row := range p.cutRows(line, len(margin)+2, cut) {
			p.printf("%s%s%s\n", margin, p.paint(faint, bar), literal.Text(row))
			bar = "┆ "
		}
	}
}

// cutRows yields a line in pieces that fit next to the columns already taken; at least one.
func (p printer) cutRows(line string, taken int, cut func(string, int) (row, rest string)) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			row, rest := line, ""
			if p.columns > 0 {
				row, rest = cut(line, max(leastRoom, p.columns-1-taken))
			}
			if line = rest; !yield(row) || rest == "" {
				return
			}
		}
	}
}
