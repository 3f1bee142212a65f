package upstream

import (
	"bufio"
	"bytes"
	"io"

	"ringback/internal/job"
)

// listener reads the body of a request and finds the tokens of offers in it. The end of the body
// is passed on only when heardFunc has returned: until then the API has nothing to answer.
type listener struct {
	io.Closer
	body *bufio.Reader
	// tail is the end of what was read, which may be the beginning of a token.
	tail      []byte
	tokens    []string
	heardFunc func(tokens []string) error
	done      bool
}

// lookahead is how much of a body is read at once, in bytes.
const lookahead = 64 << 10

func listen(body io.ReadCloser, heardFunc func(tokens []string) error) io.ReadCloser {
	if body == nil {
		return nil
	}
	return &listener{Closer: body, body: bufio.NewReaderSize(body, lookahead), heardFunc: heardFunc}
}

// Read implements io.Reader.
func (l *listener) Read(p []byte) (int, error) {
	n, err := l.body.Read(p)
	l.find(p[:n])
	if l.done || len(l.tokens) == 0 {
		return n, err
	}
	if _, ends := l.body.Peek(1); ends == nil {
		return n, err
	}
	l.done = true
	if unheard := l.heardFunc(l.tokens); unheard != nil {
		return 0, unheard
	}
	return n, err
}

// mostTokens bounds the tokens of a request: the later ones, which may be new, are kept.
const mostTokens = 1000

// find adds the tokens of a piece of the body.
func (l *listener) find(piece []byte) {
	text := append(l.tail, piece...)
	for {
		at := bytes.Index(text, []byte(job.OfferTokens))
		if at < 0 {
			break
		}
		if len(text)-at < job.OfferTokenSize { // the rest is in the next piece
			l.tail = bytes.Clone(text[at:])
			return
		}
		l.tokens = append(l.tokens, string(text[at:at+job.OfferTokenSize]))
		l.tokens = l.tokens[max(0, len(l.tokens)-mostTokens):]
		text = text[at+len(job.OfferTokens):]
	}
	l.tail = bytes.Clone(text[max(0, len(text)-len(job.OfferTokens)+1):])
}
