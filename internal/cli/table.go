package cli

import "strings"

// tableOf prints a row for each element of a list, see table.
func tableOf[T any](p printer, header []string, list []T, row func(T) []string) (cut bool) {
	rows := make([][]string, len(list))
	for i, v := range list {
		rows[i] = row(v)
	}
	return p.table(header, rows)
}

// table prints rows in columns: aligned and cut to the width on a terminal, otherwise separated by
// tabs. It reports whether a row is cut.
func (p printer) table(header []string, rows [][]string) (cut bool) {
	w := widths(append([][]string{header}, rows...))
	p.header(header, w)
	for _, row := range rows {
		p.row(row, w)
		cut = cut || p.columns > 0 && cellsOf(padded(row, w)) > p.columns
	}
	return cut
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

// widths returns the widths of columns that fit all cells, as they are printed.
func widths(rows [][]string) []int {
	var widest []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], cellsOf(clean(cell)))
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
