package workspace

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
)

// patches parses the text of a diff and stores a part of its lines in its files.
type patches struct {
	files []*changed
	// wanted reports whether the lines of a file count; nil means all files.
	wanted func(*changed) bool
	// from is the first line to keep, counted from 1, and lines the number of lines.
	from, lines int
	// bytes limits what is kept, except for a single longer line; 0 means no limit.
	bytes int
	// cut is the number of bytes kept of each line; 0 means all.
	cut int
	// scan enables the search for secrets.
	scan bool
	// known is the total number of lines, so that reading can stop early; 0 means that they are
	// counted.
	known int

	place job.DiffPlace

	at    int // index of the file being read, from 1
	done  int // its sections that have begun
	kept  int // bytes
	total int // lines
	// next is the first line after the kept ones; 0 if there is none.
	next      int
	shortened bool
}

var header = []byte("diff --git ")

func (p *patches) readFrom(write func(io.Writer) error) error {
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(write(writer)) }()
	defer func() { _ = reader.Close() }()
	return p.read(reader)
}

func (p *patches) read(from io.Reader) error {
	lines := bufio.NewReaderSize(from, longLine)
	var text bytes.Buffer
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			if bytes.HasPrefix(line, header) {
				p.store(&text)
				p.begin()
			}
			sign := line[0]
			for errors.Is(err, bufio.ErrBufferFull) { // a very long line: its pieces count as lines
				p.pieced()
				piece := wholeLetters(line)
				begun := bytes.Clone(line[len(piece):])
				p.add(&text, piece)
				p.add(&text, []byte(job.LineContinues+"\n"))
				line, err = lines.ReadSlice('\n')
				line = slices.Concat([]byte{sign}, begun, line)
			}
			p.add(&text, line)
		}
		if errors.Is(err, io.EOF) || p.known > 0 && p.next > 0 {
			p.store(&text)
			p.total = max(p.total, p.known)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// pieced records that a line of the current file is shown in pieces.
func (p *patches) pieced() {
	if p.at > 0 {
		p.files[p.at-1].pieced = true
	}
}

// longLine is the length in bytes from which a line is shown in pieces.
const longLine = 64 << 10

// wholeLetters returns a piece of text without the character that its last bytes begin.
func wholeLetters(piece []byte) []byte {
	for at := len(piece) - 1; at > len(piece)-utf8.UTFMax; at-- {
		if utf8.RuneStart(piece[at]) {
			if !utf8.FullRune(piece[at:]) {
				return piece[:at]
			}
			break
		}
	}
	return piece
}

// begin moves to the file of the header just read.
func (p *patches) begin() {
	p.place = job.DiffPlace{}
	if p.at > 0 && p.done < p.files[p.at-1].sections {
		p.done++
		return
	}
	p.at, p.done = min(p.at+1, len(p.files)), 1
}

func (p *patches) add(text *bytes.Buffer, line []byte) {
	if p.at == 0 {
		return
	}
	f := p.files[p.at-1]
	if f.Binary || p.wanted != nil && !p.wanted(f) {
		return
	}
	p.pass(f, line)
	switch {
	case p.total < p.from || p.next > 0:
	case p.total >= p.from+p.lines, p.bytes > 0 && p.kept > 0 && p.kept+len(line) > p.bytes:
		p.next = p.total
	default:
		p.keep(text, line)
	}
}

// pass moves to the next line, and records what is noteworthy about this one.
func (p *patches) pass(f *changed, line []byte) {
	p.total++
	if p.total == p.from && p.place.InHunk {
		f.OldStart, f.NewStart = p.place.Old, p.place.New
	}
	if line[len(line)-1] == '\n' { // only the last piece of a long line ends it
		p.place.Pass(string(line[:min(len(line), longestHeading)]))
	}
	f.secret = f.secret || p.scan && line[0] == '+' && secretText().Match(line)
	f.garbled = f.garbled || p.scan && !utf8.Valid(line)
}

func (p *patches) keep(text *bytes.Buffer, line []byte) {
	if p.cut > 0 && len(line) > p.cut {
		line, p.shortened = []byte(excerpt.Head(string(line), p.cut)+"\n"), true
	}
	p.kept += len(line)
	text.Write(line)
	if line[len(line)-1] != '\n' { // the end of a piece
		text.WriteByte('\n')
	}
}

// longestHeading is the maximum length of the numbers in the heading of a hunk, in bytes.
const longestHeading = 100

func (p *patches) store(text *bytes.Buffer) {
	if p.at > 0 {
		shown := text.Bytes()
		if !utf8.Valid(shown) {
			shown = bytes.ToValidUTF8(shown, []byte("\uFFFD"))
		}
		p.files[p.at-1].Diff += string(shown)
	}
	text.Reset()
}
