package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"ringback/internal/job"
	"ringback/internal/text/literal"
)

type printer struct {
	io.Writer
	// hints receives hints about next steps. It is standard error, so that a program that reads a
	// list gets only its rows.
	hints io.Writer
	// columns is the width of the terminal; 0 if there is none.
	columns int
	color   bool
	zone    *time.Location
	now     func() time.Time
}

func (a *app) printer(w io.Writer) printer {
	n := a.columns(w)
	return printer{Writer: w, hints: cmp.Or(a.stderr, w), columns: n, color: n > 0 && !a.NoColor, zone: a.Location, now: a.NowFunc}
}

// size returns the size of a terminal, or the usual one if it does not report its own; 0 if w is no
// terminal.
func size(w io.Writer) (width, height int) {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	if err != nil || height < 1 {
		height = 24
	}
	return width, height
}

// typed asks the operating system whether a reader is a terminal.
func typed(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (p printer) written(write func(printer) error) ([]byte, error) {
	var text bytes.Buffer
	p.Writer = &text
	err := write(p)
	return text.Bytes(), err
}

// printf ignores errors: output remembers them.
func (p printer) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p printer) hint(text string) { fmt.Fprintln(p.hints, p.paint(faint, text)) }

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
	if !p.color || text == "" || code == "" {
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
	default:
	}
	return p.paint(code, clean(string(s)))
}

// time formats a point in time, or returns "" for zero.
func (p printer) time(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.In(p.zone).Format(layout)
}

func (p printer) json(text []byte) {
	for line := range strings.SplitSeq(indented(text), "\n") {
		p.hang("", "    ", "", line)
	}
}

// fit shortens text to the width of the terminal minus the columns already taken.
func (p printer) fit(text string, taken int) string {
	if p.columns == 0 {
		return text
	}
	return fitted(text, p.columns-taken)
}

// clean makes untrusted text safe to print. What Claude and users write must not control the
// terminal, start a new line, or display differently than it is written, as bidirectional control
// characters could do to a change under review.
func clean(text string) string {
	return strings.ReplaceAll(literal.Text(strings.ReplaceAll(text, "\n", " ")), "\t", " ")
}

// cleanLines is clean for text of several lines.
func cleanLines(text string) string {
	return strings.ReplaceAll(literal.Text(text), "\t", "    ")
}

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
