package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

type sayFlags struct {
	session   string
	wait, yes bool
}

func (a *app) sayCommand() *cobra.Command {
	var f sayFlags
	c := &cobra.Command{
		Use: "say <text…>", Short: "Write to a chat (default: that of the last run)",
		Long: `Write to a chat. Without --session, at a terminal: to that of the last run, which is
shown first. Without a terminal, --session is required.

If the latest job of the chat has ended, the message starts another one. So you are asked;
without a terminal, that takes --yes. A message does not answer a question: see ringback reply.`,
		Example: `  ringback say --session ses_03_… "Not the whole test suite, only ./api"`,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return usagef("say takes a text")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.say(cmd, args, f) },
	}
	c.Flags().StringVar(&f.session, "session", "", "`sessionId` of the chat, or the id of a job in it")
	c.Flags().BoolVar(&f.wait, "wait", false, "wait until Claude has read it, and show when")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "with --session: do not ask for confirmation")
	return c
}

func (a *app) say(cmd *cobra.Command, args []string, f sayFlags) error {
	ctx := cmd.Context()
	var chat []string
	switch {
	case f.session != "":
		chat = []string{f.session}
	case a.isID(ctx, args[0]):
		return usagef("%s looks like an id. To write to that chat: ringback say --session %[1]s <text>", Quoted(args[0]))
	case f.yes || !a.TypedFunc(cmd.InOrStdin()):
		return usagef("Which chat? Standard input is not a terminal, or --yes was given: name it (ringback say --session <sessionId> <text>)")
	}
	session, user, err := a.session(cmd, chat, a.chooseJob)
	if err != nil {
		return err
	}
	latest, err := a.latestIn(ctx, session, user)
	if err != nil {
		return err
	}
	if err := a.mayWrite(cmd, session, latest, f); err != nil {
		return err
	}
	to := client.Addressee{RequestID: latest.ID, MayStart: f.yes || latest.State.Terminal()}
	sent, err := a.api.SayTo(ctx, session, user, strings.Join(args, " "), 0, to)
	if err != nil {
		return err
	}
	if asked := latest.Checkpoint; asked != nil && !a.json() {
		answer := "ringback reply " + clean(asked.ID.Short()) + " <text>"
		a.printer(cmd.OutOrStdout()).hint("It does not answer a question. One is open: " + answer)
	}
	if !f.wait {
		return show(a, cmd, sent, nil, func(p printer, s client.Sent) { p.printf("Sent as message %d.\n", s.MessageID) })
	}
	var read client.Answer[client.Messages]
	err = a.poll(ctx, func() (bool, error) {
		read, err = a.api.Messages(ctx, session, user, sent.Value.MessageID-1, 1)
		return !awaitsHearing(read.Value.Messages), err
	})
	return show(a, cmd, read, err, func(p printer, m client.Messages) {
		for _, one := range m.Messages {
			p.message(one)
		}
	})
}

// isID reports whether a word that begins a message may be meant as an id.
func (a *app) isID(ctx context.Context, word string) bool {
	if p, ok := job.ParseIDPrefix(job.JobIDs, word); ok && !p.TooShort() {
		if found, err := a.jobs(ctx, client.Filter{IDPrefix: p.String(), Limit: 1}, nil); err == nil && len(found) > 0 {
			return true
		}
	}
	return job.LooksLikeID(word)
}

// latestIn returns the latest job of a chat; zero if there is none. It returns an error if there is no
// such chat: a message would begin another.
func (a *app) latestIn(ctx context.Context, session, user string) (latest job.Job, err error) {
	page, err := a.api.Messages(ctx, session, user, 0, 1)
	if err != nil || page.Value.LatestJob == "" {
		return latest, err
	}
	j, err := a.api.Get(ctx, page.Value.LatestJob)
	if job.HasKind(err, job.NotFound) { // it was deleted
		return latest, nil
	}
	return j.Value, err
}

// mayWrite asks the person at the terminal whether to write to a chat that the command line does not
// name, or in which a message starts another job.
func (a *app) mayWrite(cmd *cobra.Command, session string, latest job.Job, f sayFlags) error {
	starts := latest.State.Terminal()
	switch {
	case f.yes, f.session != "" && !starts:
		return nil
	case !a.TypedFunc(cmd.InOrStdin()):
		return usagef("The job %s of this chat is %s, so the message would start another one: add --yes if it may", latest.ID.Short(), latest.State)
	}
	q := a.asker(cmd)
	q.p.hang("", "  ", "", "About to write to the chat "+session)
	if latest.ID != "" {
		q.p.hang("  ", "    ", "", "Its latest job: "+latest.ID.Short()+" ("+a.about(latest)+")")
	}
	if starts {
		q.p.hang("  ", "    ", yellow, "That job has ended: the message starts another one.")
	}
	return q.confirmed(cmd.Context(), "Do it?")
}

// awaitsHearing reports whether Claude has yet to read a message. A message that is not for Claude,
// such as the answer to a question, has no hearing.
func awaitsHearing(found []job.Message) bool {
	return len(found) > 0 && found[0].Hearing != nil && found[0].Hearing.Status == job.Waiting
}
