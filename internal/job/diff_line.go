package job

import (
	"fmt"
	"iter"
	"strings"
)

// The kinds of lines of a diff: in a hunk, each line begins with its kind.
const (
	DiffHeader  byte = 0   // before the first hunk of a file
	DiffHunk    byte = '@' // the heading of a hunk
	DiffSame    byte = ' '
	DiffAdded   byte = '+'
	DiffRemoved byte = '-'
	DiffNote    byte = '\\' // about the line before it, and not in the file
)

// DiffPlace is a place in the diff of a file: the numbers of the next line, before and after the
// change. They are valid in a hunk.
type DiffPlace struct {
	Old, New int
	InHunk   bool
}

// Pass moves behind a line and returns its kind.
func (p *DiffPlace) Pass(line string) (kind byte) {
	switch {
	case strings.HasPrefix(line, "@@ "): // -1,2 +3,4 @@
		p.InHunk = true
		_, after, _ := strings.Cut(line, " +")
		_, _ = fmt.Sscanf(line, "@@ -%d", &p.Old)
		_, _ = fmt.Sscanf(after, "%d", &p.New)
		return DiffHunk
	case strings.HasPrefix(line, "diff --git "):
		p.InHunk = false
	}
	if !p.InHunk || line == "" {
		return DiffHeader
	}
	if line[0] == DiffSame || line[0] == DiffRemoved {
		p.Old++
	}
	if line[0] == DiffSame || line[0] == DiffAdded {
		p.New++
	}
	return line[0]
}

// DiffLine is a line of a diff.
type DiffLine struct {
	Kind byte
	// DiffPlace has its numbers if it is a line of the file: same, added or removed.
	DiffPlace
	Text string // The line of the diff, without the sign of a line of the file.
}

// Lines returns the lines of Diff, which may begin or end within a hunk, because pages cut a change at
// any line. The pieces of a long line have the same numbers.
func (f FileDiff) Lines() iter.Seq[DiffLine] {
	return func(yield func(DiffLine) bool) {
		before := DiffPlace{f.OldStart, f.NewStart, f.OldStart > 0 || f.NewStart > 0}
		at := before
		for text := range strings.Lines(f.Diff) {
			text = strings.TrimSuffix(text, "\n")
			if text == LineContinues {
				at = before
			}
			before = at
			line := DiffLine{at.Pass(text), before, text}
			if line.Kind == DiffSame || line.Kind == DiffAdded || line.Kind == DiffRemoved {
				line.Text = text[1:]
			}
			if !yield(line) {
				return
			}
		}
	}
}
