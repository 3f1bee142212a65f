package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ringback/internal/client"
)

func (a *app) sayCommand() *cobra.Command {
	var session string
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
			sent, err := api.Say(cmd.Context(), id, user, strings.Join(args, " "))
			if err != nil {
				return err
			}
			return show(a, cmd, sent, func(p printer, s client.Sent) { p.printf("Sent as message %d.\n", s.MessageID) })
		},
	}
	c.Flags().StringVar(&session, "session", "", "`sessionId` of the chat")
	return c
}
