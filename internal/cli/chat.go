package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

type messagesFlags struct {
	after  int64
	limit  int
	follow bool
}

func (a *app) messagesCommand() *cobra.Command {
	var f messagesFlags
	c := &cobra.Command{
		Use: "messages [sessionId]", Short: "Show a chat (default: that of the last run)", Args: atMost(1, "sessionId"),
		Long: `Show a chat (default: that of the last run): messages, tool calls, questions
and their replies.

With --follow: new messages as they arrive, until Ctrl-C; as one JSON object a
line with -o json.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.messages(cmd, args, f) },
	}
	c.Flags().Int64Var(&f.after, "after", 0, "only messages after the one with this `id`")
	c.Flags().IntVar(&f.limit, limitFlag, 200, "how `many`, at most 500; with --follow: how many to fetch at once")
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "show new messages as they arrive")
	return c
}

func (a *app) messages(cmd *cobra.Command, args []string, f messagesFlags) error {
	session, user, err := a.session(cmd, args, a.whichJob)
	if err != nil {
		return err
	}
	if f.follow {
		l := &listener{session: session, user: user, last: f.after, limit: f.limit}
		return a.untilLeft(cmd, nil, func(ctx context.Context) error { return a.listen(ctx, cmd, l) })
	}
	page, err := a.api.Messages(cmd.Context(), session, user, f.after, f.limit)
	return show(a, cmd, page, err, func(p printer, page client.Messages) {
		p.chat(cmd.Context(), a, page.Messages)
		if page.NextAfter != 0 {
			p.hint(fmt.Sprintf("More with: ringback messages %s --after %d", Quoted(clean(session)), page.NextAfter))
		}
	})
}

// session returns the chat that is meant, and its user.
func (a *app) session(cmd *cobra.Command, args []string, choose chooser) (session, user string, err error) {
	if len(args) > 0 {
		return a.findSession(cmd, args[0])
	}
	last := a.lastRun()
	if last == "" {
		if last, err = choose(cmd, nil); err != nil {
			return "", "", err
		}
	}
	return a.sessionOf(cmd.Context(), last)
}

// findSession returns the chat with a name. A chat can also be given by the id of a job in it, and one
// that Ringback named after its first job by the beginning of its name; other names must be complete.
func (a *app) findSession(cmd *cobra.Command, name string) (session, user string, err error) {
	random, ours := strings.CutPrefix(name, "ses_")
	p, ok := job.ParseIDPrefix(job.JobIDs, random)
	ours = ours && ok && !p.Complete()
	if !ours && !strings.HasPrefix(name, job.JobIDs+"_") {
		return name, a.user, nil
	}
	id, err := a.findJob(cmd.Context(), random)
	if err != nil {
		return "", "", err
	}
	return a.sessionOf(cmd.Context(), id)
}

func (a *app) sessionOf(ctx context.Context, id job.ID) (session, user string, err error) {
	j, err := a.api.Get(ctx, id)
	return j.Value.SessionID, j.Value.UserID, err
}

func (p printer) chat(ctx context.Context, a *app, messages []job.Message) {
	answered := answeredIn(messages)
	for _, m := range messages {
		p.message(m)
		if m.MessageType != job.CheckpointMessage || m.CheckpointID == "" {
			continue
		}
		if answered[m.ID] {
			p.aside("answered")
			continue
		}
		c, err := a.api.Checkpoint(ctx, m.CheckpointID)
		if err != nil {
			continue // show the chat anyway
		}
		p.fate(c.Value)
	}
}

// margin is as wide as the time at the left of a chat.
const margin = "         "

func (p printer) message(m job.Message) {
	p.hang(
		p.paint(faint, p.time(m.CreatedAt, time.TimeOnly))+" "+p.paint(bold, p.fit(clean(speaker(m)), len(margin)+2))+"  ",
		margin, "", strings.TrimSpace(m.Content),
	)
	for _, part := range m.Parts {
		if line := toolLine(part); line != "" {
			p.aside(line)
		}
	}
	if m.Hearing != nil {
		p.aside(m.Hearing.Words())
	}
}

func (p printer) aside(text string) { p.hang(margin, margin, faint, clean(text)) }

func speaker(m job.Message) string {
	if m.MessageType == job.CheckpointMessage {
		return m.Author() + " asks"
	}
	return m.Author()
}

// toolLine describes a tool call in one line; "" for other parts.
func toolLine(part job.Part) string {
	switch part.Type {
	case job.ToolCallPart:
		return "→ " + part.ToolName + " " + shortened(plainValue(part.Input))
	case job.ToolResultPart:
		return "← " + part.ToolName + " " + strings.TrimPrefix(string(part.State), "output-") + " " + shortened(plainValue(part.Output))
	case job.TextPart:
	}
	return ""
}

// plainValue formats a JSON value for people: a string without quotes, an object as its members, or
// as its value alone if it has one member.
func plainValue(value json.RawMessage) string {
	var named []string
	alone := ""
	for name, member := range job.Members(value) {
		alone = plainMember(member)
		named = append(named, name+": "+alone)
	}
	switch len(named) {
	case 0:
		return plainMember(value)
	case 1:
		return alone
	}
	return strings.Join(named, ", ")
}

// plainMember formats a member of an object: a string without quotes, anything else as JSON.
func plainMember(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// answeredIn returns the ids of the question messages that other messages in the list answer. An
// answer refers to its question by checkpoint_message_id in its props.
func answeredIn(messages []job.Message) map[int64]bool {
	answered := map[int64]bool{}
	for _, m := range messages {
		if props := decoded[job.ReplyProps](m.Props); props.ResolvesCheckpoint {
			answered[props.CheckpointMessageID] = true
		}
	}
	return answered
}

// fate prints the subject of a question below it, and its outcome or how to answer it.
func (p printer) fate(c job.Checkpoint) {
	p.input(margin, c.Question())
	if c.Status != job.Open {
		p.aside(string(c.Status))
		p.outcome(margin, c)
		return
	}
	if replies := suggested(c.Props); replies != "" {
		p.hang(margin, margin, cyan, clean(replies))
	}
	p.printf("%s%s\n", margin, p.paint(faint, "open; answer with: ringback reply "+Quoted(clean(string(c.ID)))+" <text>"))
}

type listener struct {
	session, user string
	// last is the id of the newest message shown, and at is its time of creation.
	last  int64
	at    time.Time
	limit int
}

// listen shows a chat and new messages until ctx ends. Events only signal that there is something
// new. The messages themselves are fetched, so that none is missed or shown twice even if the
// connection is lost.
func (a *app) listen(ctx context.Context, cmd *cobra.Command, l *listener) error {
	out := cmd.OutOrStdout()
	if err := a.catchUp(ctx, out, l); err != nil {
		return err
	}
	// All retained events, to cover what was added before the connection was established.
	events := client.Watch{UserID: l.user, Since: new(job.Seq), AwayFunc: func(error) { fmt.Fprintln(cmd.ErrOrStderr(), away) }}
	_, err := a.watchEvents(ctx, events, hasEnded, func(e client.Event) (bool, error) {
		if !l.concerns(e) {
			return false, nil
		}
		if e.Name == client.Resync {
			if err := l.resync(ctx, cmd, a); err != nil {
				return false, err
			}
		}
		return false, a.catchUp(ctx, out, l)
	})
	return err
}

// concerns reports whether an event means that the chat has something new.
func (l *listener) concerns(e client.Event) bool {
	if e.Name == client.Resync {
		return true
	}
	m := messageOf(e)
	return m.SessionID == l.session && m.ID > l.last
}

// resync starts over if the store has lost the newest message that was shown, because its id may
// now belong to another message.
func (l *listener) resync(ctx context.Context, cmd *cobra.Command, a *app) error {
	if l.last == 0 {
		return nil
	}
	page, err := a.api.Messages(ctx, l.session, l.user, l.last-1, 1)
	if err != nil {
		return err
	}
	if found := page.Value.Messages; len(found) == 0 || !found[0].CreatedAt.Equal(l.at) {
		fmt.Fprintln(cmd.ErrOrStderr(), "The store has lost the latest messages. The chat as it is now:")
		l.last = 0
	}
	return nil
}

// catchUp shows all messages after the last one shown.
func (a *app) catchUp(ctx context.Context, out io.Writer, l *listener) error {
	for {
		page, err := a.api.Messages(ctx, l.session, l.user, l.last, l.limit)
		if err != nil {
			return err
		}
		if a.json() {
			for _, message := range listIn(page.JSON, "messages") {
				if err := writeLine(out, message); err != nil {
					return err
				}
			}
		} else {
			a.printer(out).chat(ctx, a, page.Value.Messages)
		}
		for _, m := range page.Value.Messages {
			l.last, l.at, l.user = m.ID, m.CreatedAt, m.UserID
		}
		if page.Value.NextAfter == 0 {
			return nil
		}
	}
}

func writeLine(out io.Writer, text json.RawMessage) error {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := line.WriteTo(out)
	return err
}
