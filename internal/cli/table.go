package cli

import (
	"slices"
	"strings"
)

// tableOf prints a row for each element of a list.
func tableOf[T any](p printer, header []string, list []T, row func(T) []string) {
	rows := make([][]string, len(list))
	for i, v := range list {
		rows[i] = row(v)
	}
	p.table(header, rows)
}

// table prints rows in columns: aligned and cut to the width on a terminal, otherwise separated by
// tabs.
func (p printer) table(header []string, rows [][]string) {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = clean(cell)
		}
	}
	w := widths(append([][]string{header}, rows...))
	p.header(header, w)
	for _, row := range rows {
		p.row(row, w)
	}
}

func (p printer) header(cells []string, widths []int) {
	p.printf("%s\n", p.paint(faint, p.aligned(cells, widths)))
}

func (p printer) row(cells []string, widths []int) {
	for i, cell := range cells {
		cells[i] = clean(cell)
	}
	p.printf("%s\n", p.aligned(cells, widths))
}

// aligned formats one row in columns.
func (p printer) aligned(row []string, widths []int) string {
	if p.columns == 0 {
		return strings.Join(row, "\t")
	}
	return p.fit(padded(row, widths), 0)
}

// cuts reports whether a table's rows are wider than the terminal.
func (p printer) cuts(rows [][]string) bool {
	w := widths(rows)
	return p.columns > 0 && slices.ContainsFunc(rows, func(row []string) bool { return cellsOf(padded(row, w)) > p.columns })
}

func widths(rows [][]string) []int {
	var widest []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], cellsOf(cell))
		}
	}
	return widest
}

func padded(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", max(0, widths[i]-cellsOf(cell))+2))
	}
	return strings.TrimRight(b.String(), " ")
}
