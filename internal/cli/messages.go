package cli

import (
	"context"
	"fmt"
	"strings"

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
	c.Flags().IntVar(&f.limit, limitFlag, 200, "how `many`, 500 at most; with --follow: how many to fetch at once")
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "show new messages as they arrive")
	return c
}

func (a *app) messages(cmd *cobra.Command, args []string, f messagesFlags) error {
	api := a.client()
	session, user, err := a.session(cmd, api, args, a.whichJob)
	if err != nil {
		return err
	}
	if f.follow {
		l := &listener{session: session, user: user, last: f.after, limit: f.limit}
		return a.untilLeft(cmd, nil, func(ctx context.Context) error { return a.listen(ctx, cmd, api, l) })
	}
	page, err := api.Messages(cmd.Context(), session, user, f.after, f.limit)
	return show(a, cmd, page, err, func(p printer, page client.Messages) {
		p.chat(cmd.Context(), api, page.Messages)
		if page.NextAfter != 0 {
			p.hint(fmt.Sprintf("More with: ringback messages %s --after %d", Quoted(clean(session)), page.NextAfter))
		}
	})
}

// session returns the chat that is meant, and its user.
func (a *app) session(cmd *cobra.Command, api *client.Client, args []string, choose chooser) (session, user string, err error) {
	if len(args) > 0 {
		return a.findSession(cmd, api, args[0])
	}
	last := a.lastRun()
	if last == "" {
		if last, err = choose(cmd, nil); err != nil {
			return "", "", err
		}
	}
	return sessionOf(cmd.Context(), api, last)
}

// findSession returns the chat with a name. A chat can also be given by the id of a job in it, and one
// that Ringback named after its first job by the beginning of its name; other names must be complete.
func (a *app) findSession(cmd *cobra.Command, api *client.Client, name string) (session, user string, err error) {
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
	return sessionOf(cmd.Context(), api, id)
}

func sessionOf(ctx context.Context, api *client.Client, id job.ID) (session, user string, err error) {
	j, err := api.Get(ctx, id)
	return j.Value.SessionID, j.Value.UserID, err
}

func (p printer) chat(ctx context.Context, api *client.Client, messages []job.Message) {
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
		c, err := api.Checkpoint(ctx, m.CheckpointID)
		if err != nil {
			continue // show the chat anyway
		}
		p.fate(c.Value)
	}
}
