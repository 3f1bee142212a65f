package cli

import (
	"strings"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/literal"
)

// written shows the text that Claude is writing.
type written struct {
	p printer
	// last is the piece shown last, and text is the part of its block that was shown.
	last job.TextPiece
	text string
	// taken is the number of columns in use on the current row; 0 before a row begins.
	taken int
}

// takes shows a piece of text and returns true. For other events it returns false, except for a
// message whose text was already shown as it was written.
func (w *written) takes(e client.Event) bool {
	if string(e.Type()) == job.TextName {
		w.show(decoded[job.TextPiece](e.Data))
		return true
	}
	shown := strings.TrimSpace(w.text)
	w.end()
	said := messageOf(e)
	return shown != "" && !w.last.Thinking && len(said.Parts) < 2 && strings.TrimSpace(said.Content) == shown
}

func (w *written) show(piece job.TextPiece) {
	text := piece.Text
	switch isSame := piece.Turn == w.last.Turn && piece.Block == w.last.Block; {
	case piece.Whole && isSame && strings.HasPrefix(text, w.text):
		text = text[len(w.text):] // the rest was shown
	case isSame && piece.Piece <= w.last.Piece && !piece.Whole:
		return
	case !isSame || piece.Whole:
		w.end()
		if !piece.Whole && piece.Piece > 1 {
			text = "… " + text
		}
		if piece.Thinking {
			w.line(faint, "Thinking: ")
		}
	case piece.Piece > w.last.Piece+1:
		text = " … " + text
	}
	w.last = piece
	w.text += text
	if text == "" {
		return
	}
	code := ""
	if piece.Thinking {
		code = faint
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			w.nextRow()
		}
		w.line(code, literal.Text(line))
	}
}

// line prints a part of a line after a bar, so that it cannot pass for Ringback's own output, and
// continues it on further rows.
func (w *written) line(code, text string) {
	const bar = "│ "
	for {
		if w.taken == 0 {
			w.p.printf("%s", w.p.paint(faint, bar))
			w.taken = cellsOf(bar)
		}
		row, rest := "", text
		if room := w.p.columns - 1 - w.taken; w.p.columns == 0 {
			row, rest = text, ""
		} else if room > 1 { // a character may take two columns
			row, rest = cut(text, room)
		}
		w.p.printf("%s", w.p.paint(code, row))
		if w.taken += cellsOf(row); rest == "" {
			return
		}
		w.nextRow()
		text = rest
	}
}

func (w *written) nextRow() {
	w.p.printf("\n")
	w.taken = 0
}

func (w *written) end() {
	if w.taken > 0 {
		w.p.printf("\n")
	}
	w.taken, w.text = 0, ""
}
