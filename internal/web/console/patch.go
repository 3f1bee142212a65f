package console

import (
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
)

type patch struct {
	job.FileDiff
	// Repo is the repository's name, Anchor the HTML id of the file's place on the page.
	Repo, Anchor string
	Rows         []row
	// Cut is true if some of its lines are not shown.
	Cut bool
	// File is the same file in the whole change.
	File changedFile
	// Folded is true if its lines are hidden until the visitor unfolds them.
	Folded bool
}

type row struct {
	// Kind is add, del, same, hunk for the heading of a part, or note for a line that is about the
	// one before and not in the file.
	Kind string
	// Old and New are the line numbers; 0 if the line does not exist on that side.
	Old, New int
	// Changed is the part of the line that differs from the line that it replaces, between the other two.
	Before, Changed, After string
	text                   string
	// continues is true if the line before continues in the next row.
	continues bool
	// Left and Right are the two sides of a row in the side-by-side layout.
	Left, Right *row
}

func newPatch(repository string, f job.FileDiff, anchor string) patch {
	p := patch{FileDiff: f, Repo: repository, Anchor: anchor}
	for line := range f.Lines() {
		switch text := literal.Line(line.Text); line.Kind {
		case job.DiffHunk:
			p.Rows = append(p.Rows, row{Kind: "hunk", After: literal.Text(line.Text)})
		case job.DiffNote:
			p.Rows = append(p.Rows, row{Kind: "note", After: literal.Text(line.Text[2:]), continues: line.Text == job.LineContinues})
		case job.DiffAdded:
			p.Rows = append(p.Rows, row{Kind: "add", New: line.New, text: text})
		case job.DiffRemoved:
			p.Rows = append(p.Rows, row{Kind: "del", Old: line.Old, text: text})
		case job.DiffSame:
			p.Rows = append(p.Rows, row{Kind: "same", Old: line.Old, New: line.New, text: text})
		}
	}
	p.split()
	p.pair()
	return p
}

func (p patch) shortened() bool {
	return slices.ContainsFunc(p.Rows, func(r row) bool { return strings.HasSuffix(r.text, excerpt.Mark) })
}

// isPart reports whether some lines of the file are missing. goesOn is true if the page ends with
// this file and there is another page, which may begin within a long line.
func (p patch) isPart(goesOn bool) bool {
	lines, continues := 0, false
	for _, r := range p.Rows {
		if (r.Kind == "add" || r.Kind == "del") && !continues {
			lines++
		}
		continues = r.continues
	}
	isLong := func(r row) bool { return len(r.text) >= longestWhole }
	return lines < p.Lines() || p.OldStart > 0 || p.NewStart > 0 || goesOn && slices.ContainsFunc(p.Rows, isLong)
}

// longestWhole is a length in bytes that each piece of a long line exceeds.
const longestWhole = 60 << 10

// chunkRows is the number of lines laid out together: a layout change in one of them affects only
// its own chunk.
const chunkRows = 100

// Chunks returns the lines of a patch in chunks.
func (p patch) Chunks() [][]row { return slices.Collect(slices.Chunk(p.Rows, chunkRows)) }

// Large reports whether the browser must lay out the patch even while it is out of view. Otherwise,
// it would have to catch up when the focus moves through a large patch.
func (p patch) Large() bool { return len(p.Rows) > 3*chunkRows }

// Lines returns the number of changed lines.
func (p patch) Lines() int { return p.Additions + p.Deletions }

// Wide reports whether line numbers have many digits.
func (p patch) Wide() bool {
	return slices.ContainsFunc(p.Rows, func(r row) bool { return max(r.Old, r.New) >= 100_000 })
}

// split divides each line of the file around its changed part.
func (p *patch) split() {
	changed := p.changes()
	for i := range p.Rows {
		if r, at := &p.Rows[i], changed[i]; r.text != "" {
			r.Before, r.Changed, r.After = r.text[:at.from], r.text[at.from:at.to], r.text[at.to:]
		}
	}
}

type part struct{ from, to int }

// replaced calls do for each run of removed lines, starting at dels, followed by the lines added in
// their place, from adds up to end. Either may be empty.
func (p *patch) replaced(do func(dels, adds, end int)) {
	for i := 0; i < len(p.Rows); {
		dels := i
		for i < len(p.Rows) && p.Rows[i].Kind == "del" {
			i++
		}
		adds := i
		for i < len(p.Rows) && p.Rows[i].Kind == "add" {
			i++
		}
		if i == dels {
			i++
			continue
		}
		do(dels, adds, i)
	}
}

// changes returns the parts that differ, by row index, for each run with as many added as removed
// lines.
func (p *patch) changes() map[int]part {
	found := map[int]part{}
	p.replaced(func(dels, adds, end int) {
		if adds-dels != end-adds {
			return
		}
		for k := range adds - dels {
			if left, right, ok := differing(p.Rows[dels+k].text, p.Rows[adds+k].text); ok {
				found[dels+k], found[adds+k] = left, right
			}
		}
	})
	return found
}

// differing returns the parts in which two lines differ, extended to whole words. It returns false
// if the lines have too little in common.
func differing(a, b string) (left, right part, ok bool) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for head > 0 && (inWord(a, head) || inWord(b, head)) {
		head--
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && (inWord(a, len(a)-tail) || inWord(b, len(b)-tail)) {
		tail--
	}
	same := len(strings.TrimSpace(a[:head])) + len(strings.TrimSpace(a[len(a)-tail:]))
	return part{head, len(a) - tail}, part{head, len(b) - tail}, same*3 >= max(len(strings.TrimSpace(a)), len(strings.TrimSpace(b)))
}

func inWord(s string, at int) bool {
	return at > 0 && at < len(s) && isWord(s[at-1]) && isWord(s[at])
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// pair arranges lines side by side: removed lines next to the lines added in their place.
func (p *patch) pair() {
	for i := range p.Rows {
		if p.Rows[i].Kind == "same" {
			p.Rows[i].Left, p.Rows[i].Right = &p.Rows[i], &p.Rows[i]
		}
	}
	p.replaced(func(dels, adds, end int) {
		for k := range max(adds-dels, end-adds) {
			at := &p.Rows[dels+k] // as many rows as the longer side: there are enough
			if dels+k < adds {
				at.Left = &p.Rows[dels+k]
			}
			if adds+k < end {
				at.Right = &p.Rows[adds+k]
			}
		}
	})
}
