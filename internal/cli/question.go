package cli

import (
	"encoding/json"
	"strings"

	"ringback/internal/job"
)

func (p printer) question(c job.Checkpoint) {
	p.asks(c)
	p.fields(c)
	if replies := suggested(c.Props); replies != "" {
		p.printf("%s\n", p.paint(faint, "Replies: "+p.fit(clean(replies), 9)))
	}
	p.printf("%s\n", p.paint(faint, "Answer with: ringback reply "+Quoted(clean(string(c.ID)))+" <text>"))
}

func (p printer) fields(c job.Checkpoint) {
	for _, f := range fieldsOf(c) {
		p.hang("  │ ", "  │ ", "", f.prompt())
	}
}

// asks prints a question and the complete input it is about. Its rows are indented so that none can
// pass for Ringback's own output.
func (p printer) asks(c job.Checkpoint) {
	const margin = "  "
	q := c.Question()
	if head := q.Head(); head != "" {
		p.hang(margin, margin, bold, head)
	}
	if q.Again != "" {
		p.hang(margin, margin, "", strings.TrimSpace(q.Again))
	}
	text := job.Sentence(q.Segments)
	if c.Type == job.ToolApproval {
		text = "Claude wants to use " + q.Runs + "."
	}
	p.hang(margin, margin, bold, strings.TrimSpace(text))
	p.media(margin, c)
	p.input(margin, q)
	p.preview(margin, job.PreviewIn(c.Props))
	if c.Status.Waits() {
		p.covers(margin, q.Covers)
	}
}

// media prints where what a question shows can be looked at.
func (p printer) media(margin string, c job.Checkpoint) {
	for _, m := range c.Media() {
		p.hang(margin, margin+"  ", "", clean(m.Label()+": "+m.Link))
	}
}

// covers prints what a reusable approval allows.
func (p printer) covers(margin string, covers *job.Covers) {
	if covers == nil {
		return
	}
	p.hang(
		margin, margin, "",
		"A yes is for this call, once. With reply --approve, --scope job is for this job until it ends, and --scope always for all jobs of its kind and user, until ringback revoke. Both also let through "+
			job.Sentence(covers.Segments)+".",
	)
	p.hang(margin, margin, "", covers.EarlierWords())
	for _, e := range covers.Examples {
		p.lines(margin+"  ", []string{e.Tool + " " + e.Input})
		if words := e.OmittedWords(); words != "" {
			p.hang(margin+"  ", margin+"  ", faint, words)
		}
	}
}

// input prints the input that an approval runs, field by field and as JSON.
func (p printer) input(margin string, q job.Question) {
	if q.Exact == "" {
		return
	}
	p.printf("%sA yes runs %s with exactly this input:\n", margin, clean(q.Runs))
	for _, f := range q.Input {
		name := f.Name
		if f.Title != "" {
			name = f.Title + " (" + name + ")"
		}
		p.hang(margin+"  ", margin+"  ", faint, oneLine(name))
		p.lines(margin+"  ", f.Lines)
	}
	p.printf("%sAs JSON:\n", margin)
	p.lines(margin+"  ", strings.Split(q.Exact, "\n"))
}

// preview prints all of an action's preview. Its lines are indented twice so that none can pass for
// Ringback's own output or the question.
func (p printer) preview(margin string, made *job.Preview) {
	if made == nil {
		return
	}
	if made.Before != nil {
		p.printf("%sWhat it would do has changed since it was approved. Before:\n", margin)
		p.previewLines(margin, made.Before)
		p.printf("%sNow:\n", margin)
	} else {
		p.printf("%sWhat it would do:\n", margin)
	}
	p.previewLines(margin, made)
}

func (p printer) previewLines(margin string, made *job.Preview) {
	p.lines(margin+"  ", made.Lines())
	if made.Format == job.PreviewImage {
		p.printf("%s  Look at it in the console before you decide.\n", margin)
	}
}

func suggested(props json.RawMessage) string {
	return oneLine(strings.Join(decoded[job.Props](props).SuggestedReplies, " | "))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// mostLetters is the number of characters of a long text that a line of a list shows.
const mostLetters = 100

// shortened returns the beginning of a text on one line, with the number of characters cut, if any.
func shortened(text string) string {
	text = oneLine(text)
	if letters := []rune(text); len(letters) > mostLetters {
		return string(letters[:mostLetters]) + more(string(letters[mostLetters:]))
	}
	return text
}
