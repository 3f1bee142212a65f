package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) inboxCommand() *cobra.Command {
	var f client.CheckpointFilter
	var all bool
	c := &cobra.Command{
		Use: "inbox", Short: "List the questions that wait for an answer", Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.UserID = a.user; all {
				f.Status = ""
			}
			page, err := a.api.Checkpoints(cmd.Context(), f)
			return show(a, cmd, page, err, func(p printer, page client.Checkpoints) { p.inbox(cmd.Context(), a, page) })
		},
	}
	c.Flags().StringVar((*string)(&f.Type), "type", "", "only questions of this `type`")
	takesOnly(c, "type", job.CheckpointTypes[:])
	c.Flags().StringVar(
		(*string)(&f.Status), "status", string(job.Open), "only questions of this `status`; answered ones show the outcome",
	)
	takesOnly(c, "status", job.CheckpointStatuses[:])
	c.Flags().BoolVar(&all, "all", false, "include answered questions")
	c.Flags().IntVar(&f.Limit, limitFlag, 20, "how `many`, at most 500")
	c.Flags().StringVar(&f.Cursor, "cursor", "", "`where` to continue, as printed by the previous page")
	return c
}

func (p printer) inbox(ctx context.Context, a *app, page client.Checkpoints) {
	switch {
	case len(page.Checkpoints) == 0 && page.NextCursor == "":
		p.printf("Nothing waits for an answer.\n")
		return
	case p.columns > 0:
		p.letters(ctx, a, page.Checkpoints)
	default:
		tableOf(p, []string{
			"CHECKPOINT", "TYPE", "WAITS", "JOB", "QUESTION", "REPLIES",
		}, page.Checkpoints, func(c job.Checkpoint) []string {
			lines := a.gist(ctx, c)
			for i, text := range lines {
				lines[i] = shortened(text)
			}
			return []string{
				c.ID.Short(), string(c.Type), standing(c, p.now()), c.RequestID.Short(), strings.Join(lines, " · "),
				cmp.Or(c.OutcomeWords(), suggested(c.Props)),
			}
		})
	}
	if page.NextCursor != "" {
		p.hint("More with: ringback inbox --cursor " + Quoted(clean(page.NextCursor)))
	}
}

// letters shows questions on a terminal. In a table, their ids alone would fill a line and leave no
// room for the question.
func (p printer) letters(ctx context.Context, a *app, list []job.Checkpoint) {
	for _, c := range list {
		p.printf("%s  %s\n", p.paint(bold, clean(c.ID.Short())),
			p.paint(faint, clean(string(c.Type)+"  "+standing(c, p.now()))))
		for _, line := range a.gist(ctx, c) {
			p.printf("  %s\n", counted(clean(line), p.columns-2))
		}
		if replies := suggested(c.Props); replies != "" {
			p.printf("  %s\n", p.paint(cyan, counted(clean(replies), p.columns-2)))
		}
		p.outcome("  ", c)
		if c.RequestID != "" {
			p.printf("  %s\n", p.paint(faint, p.fit(clean(c.RequestID.Short()), 2)))
		}
	}
	p.hint("Read one in full, and answer it, with: ringback reply " + clean(list[0].ID.Short()))
}

// gist returns a question in one line, or what an open review is about in several: the person's words,
// each failed check and each caution, and Claude's words.
func (a *app) gist(ctx context.Context, c job.Checkpoint) []string {
	if c.Type != job.Review || c.Status != job.Open || c.RequestID == "" {
		return []string{headed(c)}
	}
	r := a.reviewOf(ctx, c)
	lines := append([]string{oneLine(r.asked)}, r.warnings()...)
	if r.isUsual() {
		lines = append(lines, "Claude: "+oneLine(r.said))
	} else {
		lines = append(lines, headed(c))
	}
	return slices.DeleteFunc(lines, func(text string) bool { return text == "" })
}

// outcome prints what came of a yes, in red unless it succeeded.
func (p printer) outcome(margin string, c job.Checkpoint) {
	if c.Outcome == nil {
		return
	}
	tone := red
	if c.Outcome.Status == job.OutcomeSucceeded {
		tone = green
	}
	p.hang(margin, margin, tone, clean(c.OutcomeWords()))
}

// headed is a question in one line, behind the title of its action.
func headed(c job.Checkpoint) string {
	if head := c.Question().Head(); head != "" {
		return oneLine(head + ": " + c.Message)
	}
	return oneLine(c.Message)
}

// standing returns how long a question has waited, or its status once it is closed.
func standing(c job.Checkpoint, now time.Time) string {
	if c.Status != job.Open {
		return string(c.Status)
	}
	return span(now.Sub(c.CreatedAt))
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

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
		"A yes is for this call, once. With reply --approve, --scope job is for this job until it ends, and --scope always for all jobs of its kind and user, until ringback revoke. Both also allow "+
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
