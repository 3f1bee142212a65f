package runner

import (
	"context"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/sandbox/process"
)

// maxText limits how much of one text is sent while it is being written, in bytes; the rest comes
// with its message.
const maxText = 64 << 10

// writing follows the text that Claude writes, and sends it to clients in pieces: one each time the
// output is read.
type writing struct {
	out     *output
	name    string // of the pieces
	secrets process.Secrets
	// thinking is true if Claude's thinking is sent as well, in separate blocks.
	thinking bool
	// before is the size of the output when this start adopted the turn; text before it was already
	// sent.
	before int64
	// piece is the last piece of the current text that was sent; text is the whole text so far.
	piece job.TextPiece
	text  []byte
	// sent is the number of bytes sent; open is set if more may come, full if no more is sent.
	sent       int
	open, full bool
	// ended are texts that have ended since the output was last read.
	ended []job.TextPiece
}

// line processes a line that ends at the offset end.
func (w *writing) line(l transcript.Line, end int64) {
	if l.Event == nil || l.ParentToolUseID != "" { // the user does not see a subagent's text
		return
	}
	switch e := l.Event; {
	case e.Type == "content_block_start":
		w.end(end)
		thinks := e.Block.Type == "thinking"
		if w.open = e.Block.Type == "text" || thinks && w.thinking; w.open {
			w.piece = job.TextPiece{Turn: w.out.job.Turn, Block: w.piece.Block + 1, Thinking: thinks, Simulated: w.out.job.Simulated}
			w.text, w.sent, w.full = w.text[:0], 0, false
		}
	case e.Type == "content_block_stop", e.Type == "message_stop":
		w.end(end)
	case w.open:
		w.add(e.Delta, end)
	}
}

// add adds what was written to the current text.
func (w *writing) add(d transcript.StreamDelta, end int64) {
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

// end records that the current text has ended.
func (w *writing) end(end int64) {
	if w.open && end > w.before {
		if piece, ok := w.next(len(w.text)); ok {
			w.ended = append(w.ended, piece)
		}
	}
	w.open = false
}

// next returns the piece up to an offset in the text; false if there is nothing more.
func (w *writing) next(to int) (job.TextPiece, bool) {
	if to <= w.sent {
		return job.TextPiece{}, false
	}
	w.piece.Piece++
	piece := w.piece
	masked := mask(w.text[:to], w.secrets)
	if piece.Whole = piece.Piece == 1; piece.Whole { // also if an earlier start has sent part of the text
		w.sent = 0
	}
	piece.Text = string(masked[w.sent:])
	w.sent = to
	return piece, true
}

// publish sends the new text. It holds back what may be half a secret.
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

// send publishes a piece. It is telemetry: a gap does no harm.
func (w *writing) send(piece job.TextPiece, more bool) {
	j := w.out.job
	text := job.TextEvent{
		Name: w.name, RequestID: j.ID, UserID: j.UserID, Time: time.Now().UTC().Truncate(time.Millisecond), Data: piece,
	}
	var soFar *job.TextEvent
	if more {
		whole := text
		whole.Data.Whole, whole.Data.Text = true, string(mask(w.text[:w.sent], w.secrets))
		soFar = &whole
	}
	_ = briefly(func(ctx context.Context) error { return w.out.store.Events.PublishText(ctx, text, soFar) })
}

// stop removes the text so far: the turn has ended.
func (w *writing) stop() {
	if !w.open {
		return
	}
	// If it fails, the text expires.
	_ = briefly(func(ctx context.Context) error { return w.out.store.Events.EndText(ctx, w.out.job.ID) })
}
