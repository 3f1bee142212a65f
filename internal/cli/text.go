package cli

import (
	"encoding/json"
	"strings"

	"ringback/client"
	"ringback/internal/job"
)

// written shows the text that Claude is writing.
type written struct {
	p printer
	// last is the piece shown last, and text is the part of its block that was shown.
	last job.TextPiece
	text string
	// open is true in the middle of a line.
	open bool
}

// takes shows a piece of text and returns true. For other events it returns false, except for a
// message whose text was already shown as it was written.
func (w *written) takes(e client.Event) bool {
	if string(e.Type()) == job.TextName {
		var piece job.TextPiece
		if json.Unmarshal(e.Data, &piece) == nil {
			w.show(piece)
		}
		return true
	}
	shown := strings.TrimSpace(w.text)
	w.end()
	if e.Type() != job.EventMessage || shown == "" || w.last.Thinking {
		return false
	}
	var said struct {
		Message job.Message `json:"message"`
	}
	return json.Unmarshal(e.Data, &said) == nil && len(said.Message.Parts) < 2 && strings.TrimSpace(said.Message.Content) == shown
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
			w.p.printf("%s", w.p.paint(faint, "Thinking: "))
		}
	case piece.Piece > w.last.Piece+1:
		text = " … " + text
	}
	w.last = piece
	w.text += text
	code := ""
	if piece.Thinking {
		code = faint
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			w.p.printf("\n")
		}
		w.p.printf("%s", w.p.paint(code, cleanCode(line)))
	}
	w.open = w.open || text != ""
}

// end ends the text.
func (w *written) end() {
	if w.open {
		w.p.printf("\n")
	}
	w.open, w.text = false, ""
}
