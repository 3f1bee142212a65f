package cli

import (
	"bufio"
	"context"
	"io"
	"os"
)

// typedLine is one line that a person typed, or the read error.
type typedLine struct {
	text string
	err  error
}

// keyboard reads what a person types, line by line. A caller can stop waiting, because a question
// may be answered elsewhere.
type keyboard struct {
	in *bufio.Reader
	// lines has room for the one line that is being read.
	lines   chan typedLine
	reading bool
	// terminal is the terminal that is read; nil if it is something else.
	terminal *os.File
}

func newKeyboard(in io.Reader) *keyboard {
	k := &keyboard{in: bufio.NewReader(in), lines: make(chan typedLine, 1)}
	if typed(in) {
		k.terminal, _ = in.(*os.File)
	}
	return k
}

// forget discards what was typed so far: it cannot be meant as the answer to a question that is yet to
// be shown.
func (k *keyboard) forget() {
	if k.terminal != nil {
		discardTyped(int(k.terminal.Fd()))
	}
	select {
	case <-k.lines: // it was meant for an abandoned question
		k.reading = false
	default:
	}
}

// isReading reports whether an abandoned read is still waiting for a line. Until it returns, no
// other program can read what is typed.
func (k *keyboard) isReading() bool { return k != nil && k.reading && len(k.lines) == 0 }

// line returns the next line. It is not safe for concurrent use.
func (k *keyboard) line(ctx context.Context) (string, error) {
	if !k.reading {
		k.reading = true
		go func() {
			text, err := k.in.ReadString('\n')
			k.lines <- typedLine{text, err}
		}()
	}
	select {
	case l := <-k.lines:
		k.reading = false
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
