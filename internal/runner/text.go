package runner

import (
	"context"
	"time"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/process"
)

// maxText is how much of one text is sent while it is written; the rest comes with its message.
const maxText = 64 << 10

// writing follows what Claude writes, and sends it to clients in pieces: one for each time that the
// output is read.
type writing struct {
	out     *output
	name    string // of the pieces
	secrets process.Secrets
	// thinking is true if Claude's thinking is sent, too: in blocks of its own.
	thinking bool
	// before is how much of the output was there when this start adopted the turn: it was sent.
	before int64
	// piece is the last piece of the current text that was sent; its text is all there is of it.
	piece job.TextPiece
	text  []byte
	// sent is how much of it was sent, open whether more may come, full whether no more is sent.
	sent       int
	open, full bool
	// ended are texts that have ended since the output was read last.
	ended []job.TextPiece
}

// line takes a line that ends there in the output.
func (w *writing) line(l claude.Line, end int64) {
	if l.Event == nil || l.ParentToolUseID != "" { // a subagent's words are not Claude's to the user
		return
	}
	switch e := l.Event; {
	case e.Type == "content_block_start":
		w.end(end)
		thinks := e.Block.Type == "thinking"
		if w.open = e.Block.Type == "text" || thinks && w.thinking; w.open {
			w.piece = job.TextPiece{Turn: w.out.turn, Block: w.piece.Block + 1, Thinking: thinks, Simulated: w.out.job.Simulated}
			w.text, w.sent, w.full = w.text[:0], 0, false
		}
	case e.Type == "content_block_stop", e.Type == "message_stop":
		w.end(end)
	case w.open:
		w.add(e.Delta, end)
	}
}

// add adds what was written to the current text.
func (w *writing) add(d claude.StreamDelta, end int64) {
	text := d.Text
	if w.piece.Thinking {
		text = d.Thinking
	}
	if w.full = w.full || len(w.text)+len(text) > maxText; w.full {
		return
	}
	w.text = append(w.text, text...)
	if end <= w.before {
		w.sent = len(w.text)
	}
}

// end notes that the current text has ended.
func (w *writing) end(end int64) {
	if w.open && end > w.before {
		if piece, ok := w.next(len(w.text)); ok {
			w.ended = append(w.ended, piece)
		}
	}
	w.open = false
}

// next is the piece up to a place in the text; false if there is nothing more.
func (w *writing) next(to int) (job.TextPiece, bool) {
	if to <= w.sent {
		return job.TextPiece{}, false
	}
	w.piece.Piece++
	piece := w.piece
	masked := mask(w.text[:to], w.secrets)
	if piece.Whole = piece.Piece == 1; piece.Whole { // of a text that an earlier start has sent in part, too
		w.sent = 0
	}
	piece.Text = string(masked[w.sent:])
	w.sent = to
	return piece, true
}

// publish sends what was written since last time. What may be half a secret waits.
func (w *writing) publish() {
	ended := w.ended
	w.ended = nil
	for _, piece := range ended {
		w.send(piece, false)
	}
	if !w.open {
		return
	}
	to := len(w.text) - max(openDigits(w.text), w.secrets.Open(w.text))
	if piece, ok := w.next(to); ok {
		w.send(piece, true)
	}
}

// send publishes a piece. It is telemetry: a gap is no harm.
func (w *writing) send(piece job.TextPiece, goesOn bool) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	j := w.out.job
	text := job.TextEvent{Name: w.name, RequestID: j.ID, UserID: j.UserID, Time: time.Now().UTC().Truncate(time.Millisecond), Data: piece}
	var soFar *job.TextEvent
	if goesOn {
		whole := text
		whole.Data.Whole, whole.Data.Text = true, string(mask(w.text[:w.sent], w.secrets))
		soFar = &whole
	}
	_ = w.out.store.PublishText(ctx, text, soFar)
}

// stop forgets the text so far: the turn has ended.
func (w *writing) stop() {
	if !w.open {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	_ = w.out.store.EndText(ctx, w.out.id) // else it lapses
}
