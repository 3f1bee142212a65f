package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/literal"
)

type watchFlags struct {
	all, text bool
	since     string
}

func (a *app) watchCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{
		Use:   "watch [requestId]",
		Short: "Show events as they happen: of one job, or of all of a user's jobs",
		Long: `Show events as they happen, until Ctrl-C.

Of one job: all of its events from the beginning, until it has ended.
With --all: the new events of all jobs of the user (--user, or the token's).

A script can resume without a gap or a repeat: --since takes the id of
the last event that it has seen, which -o json shows and --timeout prints.`,
		Example: `  ringback watch abcdefgh --timeout 30s -o json
  ringback watch --all --since 1795878199683758`,
	})
	var f watchFlags
	c.Flags().BoolVar(&f.all, "all", false, "all jobs of the user instead of one")
	c.Flags().BoolVar(
		&f.text, "text", false,
		"also the text that Claude is writing, as it is written, and its thinking if the kind has thinking: true",
	)
	c.Flags().StringVar(&f.since, "since", "", "only the events after the one with this `id`; 0 for all that are kept")
	a.withTimeout(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := f.watch(t, cmd, args)
		if err != nil {
			return err
		}
		return a.watch(cmd, w)
	}
	return c
}

func (f watchFlags) watch(t *target, cmd *cobra.Command, args []string) (w client.Watch, err error) {
	switch {
	case f.all && f.text:
		return w, usagef("--text follows one job: leave --all out")
	case f.all && (len(args) > 0 || t.flag != ""):
		return w, usagef("--all watches all jobs, so it takes no requestId")
	}
	w.UserID, w.Text = t.app.user, f.text
	if f.since != "" {
		since, err := job.ParseSeq(f.since)
		if err != nil {
			return w, usagef("--since must be the id of an event, as -o json shows it, or 0 for all that are kept, not %s", Quoted(f.since))
		}
		w.Since = &since
	}
	if !f.all {
		w.RequestID, err = t.id(cmd, args)
	}
	return w, err
}

// watch shows events. If the time is over first, it shows how to continue after the last one.
func (a *app) watch(cmd *cobra.Command, w client.Watch) error {
	of, last := cmp.Or(string(w.RequestID), "--all"), w.Since
	err := a.untilLeft(cmd, nil, func(ctx context.Context) error {
		return a.showEvents(ctx, cmd, w, func(id job.Seq) { last = &id })
	})
	if errors.Is(err, errTimedOut) {
		if last != nil {
			of += " --since " + last.String()
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "Left after %s. Continue with: ringback watch %s\n", a.timeout, clean(of))
	}
	return err
}

// showEvents shows events until the job of the watch has ended. It calls shown with the id of each.
func (a *app) showEvents(ctx context.Context, cmd *cobra.Command, w client.Watch, shown func(job.Seq)) error {
	b := &progress{p: a.printer(cmd.OutOrStdout())}
	defer b.clear()
	written := &written{p: b.p}
	defer written.end()
	show := func(e client.Event) error {
		if !a.json() && written.takes(e) {
			return nil
		}
		err := a.showEvent(b, e, w.RequestID != "")
		if err == nil && e.ID != 0 {
			shown(e.ID)
		}
		return err
	}
	w.AwayFunc = func(error) { fmt.Fprintln(cmd.ErrOrStderr(), away) }
	if w.RequestID == "" {
		_, err := a.watchEvents(ctx, w, hasEnded, func(e client.Event) (bool, error) { return false, show(e) })
		return err
	}
	j, err := a.api.Get(ctx, w.RequestID)
	if err != nil {
		return err
	}
	w.UserID, w.Since = j.Value.UserID, cmp.Or(w.Since, new(job.Seq))
	if hasEnded(j.Value) {
		err = a.replay(ctx, w, show)
	} else {
		j, err = a.watchEvents(ctx, w, hasEnded, func(e client.Event) (bool, error) { return ends(e), show(e) })
	}
	if err != nil {
		return err
	}
	return resultOf(j.Value)
}

// toneOf returns the colour of an event: red if an action did not succeed.
func toneOf(e client.Event) string {
	if e.Type() == job.EventAction && e.Contents().Outcome != job.OutcomeSucceeded {
		return red
	}
	return ""
}

// showEvent prints an event as a line. On a terminal, the progress of a single job is one changing
// line.
func (a *app) showEvent(b *progress, e client.Event, single bool) error {
	p := b.p
	switch {
	case a.json():
		return writeLine(p, e.JSON)
	case e.Name == client.Resync:
		b.note(
			"Some events are missing here: they are no longer kept, or the store has lost them. ringback list and status show the current state.",
		)
		return nil
	case single && p.columns > 0 && e.Type() == job.EventActivity:
		d := e.Contents()
		b.line(d.Progress, d.Text())
		return nil
	}
	b.clear()
	name := e.Name
	if p.columns > 0 { // the kind's prefix would take up room
		name = fmt.Sprintf("%-10s", e.Name[strings.LastIndexByte(e.Name, ':')+1:])
	}
	p.hang(
		p.paint(faint, p.time(e.Time, time.TimeOnly))+"  "+p.paint(cyan, clean(name))+"  "+
			p.paint(faint, clean(e.RequestID.Short()))+"  ",
		margin, toneOf(e), clean(inWords(e)))
	return nil
}

// decoded decodes JSON. The result is zero if the JSON describes something else.
func decoded[T any](text json.RawMessage) T {
	var v, none T
	if json.Unmarshal(text, &v) != nil {
		return none
	}
	return v
}

func listIn(object json.RawMessage, name string) []json.RawMessage {
	return decoded[[]json.RawMessage](decoded[map[string]json.RawMessage](object)[name])
}

// messageOf returns the chat message of an event; zero if there is none.
func messageOf(e client.Event) job.Message {
	if e.Type() != job.EventMessage {
		return job.Message{}
	}
	return decoded[job.Message](e.Contents().Message)
}

func inWords(e client.Event) string {
	d := e.Contents()
	switch e.Type() {
	case job.EventActivity:
		return fmt.Sprintf("%3.0f%%  %s", d.Progress, oneLine(d.Text()))
	case job.EventMessage:
		return messageInWords(messageOf(e))
	case job.EventCheckpoint, job.EventResolved:
		return checkpointInWords(decoded[job.Checkpoint](e.Data))
	case job.EventReceived:
		made := ""
		if e.Simulated {
			made = " (simulated: true)"
		}
		return d.Words(job.EventReceived) + made + ": ringback status " + e.RequestID.Short()
	default:
	}
	return oneLine(d.Words(e.Type()))
}

// messageInWords formats a chat message in one line: sender and content.
func messageInWords(m job.Message) string {
	said := []string{oneLine(m.Content)}
	if said[0] == "" {
		said = nil
	}
	for _, part := range m.Parts {
		if line := toolLine(part); line != "" {
			said = append(said, line)
		}
	}
	return speaker(m) + ": " + strings.Join(said, "  ")
}

// checkpointInWords formats a question in one line, with how to answer it or its outcome.
func checkpointInWords(c job.Checkpoint) string {
	if !c.Status.Waits() {
		words := string(c.Status)
		if c.Reply != nil {
			words += ": " + oneLine(strings.TrimSpace(string(c.Reply.Decision)+" "+c.Reply.Text))
		}
		return strings.TrimSpace(words + " " + c.OutcomeWords())
	}
	if c.Type == job.Review {
		return "waits for review: ringback diff | logs | steer -p … | approve | reject " + c.RequestID.Short()
	}
	words := "asks (ringback reply " + c.ID.Short() + " <text>): " + headed(c) // ours first, which the question cannot pose as
	if replies := suggested(c.Props); replies != "" {
		words += " [" + replies + "]"
	}
	return words
}

// written shows the text that Claude is writing.
type written struct {
	p printer
	// last is the piece shown last, and text is the part of its block that was shown.
	last job.TextPiece
	text string
	// taken is the number of columns in use on the current row; 0 before a row begins.
	taken int
}

// takes shows a piece of text and returns true. For other events it returns false, except for a
// message whose text was already shown as it was written.
func (w *written) takes(e client.Event) bool {
	if string(e.Type()) == job.TextName {
		w.show(decoded[job.TextPiece](e.Data))
		return true
	}
	shown := strings.TrimSpace(w.text)
	w.end()
	said := messageOf(e)
	return shown != "" && !w.last.Thinking && len(said.Parts) < 2 && strings.TrimSpace(said.Content) == shown
}

func (w *written) show(piece job.TextPiece) {
	text := piece.Text
	switch isSame := piece.Turn == w.last.Turn && piece.Block == w.last.Block; {
	case piece.Whole && isSame && strings.HasPrefix(text, w.text):
		text = text[len(w.text):] // the rest was shown
	case isSame && piece.Piece <= w.last.Piece && !piece.Whole:
		return
	case !isSame || piece.Whole:
		w.end()
		if !piece.Whole && piece.Piece > 1 {
			text = "… " + text
		}
		if piece.Thinking {
			w.line(faint, "Thinking: ")
		}
	case piece.Piece > w.last.Piece+1:
		text = " … " + text
	}
	w.last = piece
	w.text += text
	if text != "" {
		w.lines(map[bool]string{true: faint}[piece.Thinking], text)
	}
}

// lines prints a text that continues the current line.
func (w *written) lines(code, text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			w.nextRow()
		}
		w.line(code, literal.Text(line))
	}
}

// line prints a part of a line after a bar, so that it cannot pass for Ringback's own output, and
// continues it on further rows.
func (w *written) line(code, text string) {
	const bar = "│ "
	for {
		if w.taken == 0 {
			w.p.printf("%s", w.p.paint(faint, bar))
			w.taken = cellsOf(bar)
		}
		row, rest := "", text
		if room := w.p.columns - 1 - w.taken; w.p.columns == 0 {
			row, rest = text, ""
		} else if room > 1 { // a character may take two columns
			row, rest = cut(text, room)
		}
		w.p.printf("%s", w.p.paint(code, row))
		if w.taken += cellsOf(row); rest == "" {
			return
		}
		w.nextRow()
		text = rest
	}
}

func (w *written) nextRow() {
	w.p.printf("\n")
	w.taken = 0
}

func (w *written) end() {
	if w.taken > 0 {
		w.p.printf("\n")
	}
	w.taken, w.text = 0, ""
}
