package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) sayCommand() *cobra.Command {
	var session string
	var wait bool
	c := &cobra.Command{
		Use: "say <text…>", Short: "Write to a chat (default: that of the last run)",
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return usagef("say takes a text")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			api := a.client()
			var named []string
			if session != "" {
				named = []string{session}
			}
			id, user, err := a.session(cmd, api, named)
			if err != nil {
				return err
			}
			if err := refuseUnseen(cmd.Context(), api, id, user); err != nil {
				return err
			}
			sent, err := api.Say(cmd.Context(), id, user, strings.Join(args, " "), 0)
			if err != nil {
				return err
			}
			if !wait {
				return show(a, cmd, sent, nil, func(p printer, s client.Sent) { p.printf("Sent as message %d.\n", s.MessageID) })
			}
			var heard client.Answer[client.Messages]
			err = a.poll(cmd.Context(), func() (bool, error) {
				heard, err = api.Messages(cmd.Context(), id, user, sent.Value.MessageID-1, 1)
				return !awaitsHearing(heard.Value.Messages), err
			})
			return show(a, cmd, heard, err, func(p printer, m client.Messages) {
				for _, one := range m.Messages {
					p.message(one)
				}
			})
		},
	}
	c.Flags().StringVar(&session, "session", "", "`sessionId` of the chat")
	c.Flags().BoolVar(&wait, "wait", false, "wait until Claude has heard it, and show when")
	return c
}

// refuseUnseen returns an error if the chat has an open question that approves something: a message
// would answer it without having been shown the question.
func refuseUnseen(ctx context.Context, api *client.Client, session, user string) error {
	filter := client.CheckpointFilter{UserID: user, Status: job.Open, Limit: 100}
	for {
		page, err := api.Checkpoints(ctx, filter)
		if err != nil {
			return err
		}
		for _, c := range page.Value.Checkpoints {
			if c.SessionID == session && c.Type.Binding() {
				return usagef(
					"A message would answer an open question of this chat: answer it with ringback reply %s <text>, which shows it first",
					c.ID.Short(),
				)
			}
		}
		if filter.Cursor = page.Value.NextCursor; filter.Cursor == "" {
			return nil
		}
	}
}

// awaitsHearing reports whether Claude has yet to read a message. A message that is not for Claude,
// such as the answer to a question, has no hearing.
func awaitsHearing(found []job.Message) bool {
	return len(found) > 0 && found[0].Hearing != nil && found[0].Hearing.Status == job.Waiting
}
