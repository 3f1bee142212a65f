package cli

import (
	"strings"
	"unicode/utf8"
)

// table prints rows in columns: aligned on a terminal and cut to its width,
// with tabs between the cells elsewhere.
func (p printer) table(header []string, rows [][]string) {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = clean(cell)
		}
	}
	line := tabbed
	if p.columns > 0 {
		widths := widths(append([][]string{header}, rows...))
		line = func(row []string) string { return p.fit(padded(row, widths), 0) }
	}
	p.printf("%s\n", p.paint(faint, line(header)))
	for _, row := range rows {
		p.printf("%s\n", line(row))
	}
}

func tabbed(row []string) string { return strings.Join(row, "\t") }

func widths(rows [][]string) []int {
	var widest []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], utf8.RuneCountInString(cell))
		}
	}
	return widest
}

func padded(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
	}
	return strings.TrimRight(b.String(), " ")
}
