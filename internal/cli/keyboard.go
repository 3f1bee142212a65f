package cli

import (
	"bufio"
	"context"
	"io"
)

// typedLine is one line that a person typed, with the end of the input.
type typedLine struct {
	text string
	err  error
}

// keyboard reads what a person types, line by line, and lets whoever asks give
// up waiting: a question may be answered elsewhere.
type keyboard struct {
	in *bufio.Reader
	// lines has room for the one line that is being read.
	lines   chan typedLine
	reading bool
}

func newKeyboard(r io.Reader) *keyboard {
	return &keyboard{in: bufio.NewReader(r), lines: make(chan typedLine, 1)}
}

// isReading reports whether a line is being read that nobody has asked for any more. Nobody else
// can read what is typed meanwhile.
func (k *keyboard) isReading() bool { return k != nil && k.reading && len(k.lines) == 0 }

// line returns the next line. It is not safe for concurrent use.
func (k *keyboard) line(ctx context.Context) (string, error) {
	select {
	case <-k.lines: // it was meant for a question that nobody asks any more
		k.reading = false
	default:
	}
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
