package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"ringback/internal/job"
	"ringback/internal/literal"
)

// printer writes for people.
type printer struct {
	io.Writer
	// hints is where what can be done next is printed: standard error, so that a program that
	// reads a list gets nothing but its rows.
	hints io.Writer
	// columns is the width of the terminal; 0 when there is none.
	columns int
	color   bool
	zone    *time.Location
	now     func() time.Time
}

func (a *app) printer(w io.Writer) printer {
	n := a.ColumnsFunc(w)
	return printer{Writer: w, hints: a.hintsTo(w), columns: n, color: n > 0 && !a.NoColor, zone: a.Location, now: a.NowFunc}
}

func (a *app) hintsTo(w io.Writer) io.Writer {
	if a.stderr != nil {
		return a.stderr
	}
	return w
}

// columns asks the operating system for a terminal's width.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		return 80
	}
	return width
}

// rows asks the operating system for a terminal's height.
func rows(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	_, height, err := term.GetSize(int(f.Fd()))
	if err != nil || height < 1 {
		return 24
	}
	return height
}

// typed asks the operating system whether a reader is a terminal.
func typed(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printf ignores errors: when a terminal or pipe is gone, so is the reader.
func (p printer) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// hint prints what can be done next.
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

// time shows a point in time; "" when there is none.
func (p printer) time(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.In(p.zone).Format(layout)
}

// json prints JSON that a person reads.
func (p printer) json(text []byte) {
	for line := range strings.SplitSeq(indented(text), "\n") {
		p.hang("", "    ", "", line)
	}
}

// fit shortens text to the terminal, of which other columns are taken already.
func (p printer) fit(text string, taken int) string {
	if p.columns == 0 {
		return text
	}
	return fitted(text, p.columns-taken)
}

// clean makes text from others harmless: what Claude and users write must not
// steer the terminal, nor begin a new line, nor read other than it is written
// (which marks of writing direction can make a change under review do).
func clean(text string) string {
	return strings.ReplaceAll(cleanCode(strings.ReplaceAll(text, "\n", " ")), "\t", " ")
}

// cleanCode is clean for a line of code, whose tabs mean something.
func cleanCode(line string) string { return literal.Text(line) }

// cleanLines is clean for text of several lines.
func cleanLines(text string) string {
	return strings.ReplaceAll(literal.Text(text), "\t", "    ")
}
