package cli

import (
	"fmt"
	"io"
	"strings"

	"ringback/internal/job"
)

// printer writes for people.
type printer struct {
	io.Writer
	color bool
}

func (p printer) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// The colours of a terminal.
const (
	green  = "32"
	red    = "31"
	yellow = "33"
	cyan   = "36"
	faint  = "2"
	bold   = "1"
)

func (p printer) paint(code, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p printer) state(s job.State) string {
	code := cyan
	switch s {
	case job.Received:
		code = green
	case job.Failed, job.Expired, job.Rejected:
		code = red
	case job.Cancelled, job.AwaitingApproval, job.AwaitingInput:
		code = yellow
	case job.Pending, job.Running:
	}
	return p.paint(code, string(s))
}

// bar draws a share in percent.
func bar(percent float64, width int) string {
	full := min(width, max(0, int(percent/100*float64(width)+0.5)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// table aligns rows in columns; colours must not be among the cells.
func (p printer) table(header []string, rows [][]string) {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	line := func(row []string) string {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-len([]rune(cell))+2))
			}
		}
		return b.String()
	}
	p.printf("%s\n", p.paint(faint, line(header)))
	for _, row := range rows {
		p.printf("%s\n", line(row))
	}
}
