package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/client"
	"ringback/internal/job"
)

func (a *app) messagesCommand() *cobra.Command {
	var after int64
	var limit int
	c := &cobra.Command{
		Use: "messages [sessionId]", Short: "Show a chat (default: that of the last run)", Args: atMost(1, "sessionId"),
		RunE: func(cmd *cobra.Command, args []string) error {
			api := a.client()
			session, user, err := a.session(cmd, api, args)
			if err != nil {
				return err
			}
			page, err := api.Messages(cmd.Context(), session, user, after, limit)
			if err != nil {
				return err
			}
			return show(a, cmd, page, printer.chat)
		},
	}
	c.Flags().Int64Var(&after, "after", 0, "only messages behind the one with this id")
	c.Flags().IntVar(&limit, "limit", 200, "how many")
	return c
}

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
	c.Flags().StringVar(&session, "session", "", "sessionId of the chat")
	return c
}

// session is the chat that is meant, and whose it is.
func (a *app) session(cmd *cobra.Command, api *client.Client, args []string) (session, user string, err error) {
	if len(args) > 0 {
		return args[0], a.user, nil
	}
	last := a.lastRun()
	if last == "" {
		return "", "", usagef("Which chat? Give its sessionId, or run a job first: ringback run <kind>")
	}
	j, err := api.Get(cmd.Context(), last)
	return j.Value.SessionID, j.Value.UserID, err
}

func (p printer) chat(page client.Messages) {
	for _, m := range page.Messages {
		p.message(m)
	}
	if page.NextAfter != 0 {
		p.printf("%s\n", p.paint(faint, fmt.Sprintf("More with: --after %d", page.NextAfter)))
	}
}

// message prints one entry of a chat: when, who, what.
func (p printer) message(m job.Message) {
	who := map[job.Sender]string{job.FromUser: "You", job.FromAssistant: "Claude"}[m.Sender]
	if who == "" {
		who = string(m.Sender)
	}
	if m.MessageType == job.CheckpointMessage {
		who += " asks"
	}
	p.printf("%s %s", p.paint(faint, p.time(m.CreatedAt, time.TimeOnly)), p.paint(bold, clean(who)))
	if m.Content != "" {
		p.printf("  %s", clean(m.Content))
	}
	p.printf("\n")
	for _, part := range m.Parts {
		if line := toolLine(part); line != "" {
			p.printf("         %s\n", p.paint(faint, clean(line)))
		}
	}
}

// toolLine is a tool's use in one line; "" for other parts.
func toolLine(part job.Part) string {
	switch part.Type {
	case job.ToolCallPart:
		return "→ " + part.ToolName + " " + shortened(string(part.Input))
	case job.ToolResultPart:
		return "← " + part.ToolName + " " + strings.TrimPrefix(string(part.State), "output-") + " " + shortened(string(part.Output))
	case job.TextPart:
	}
	return ""
}

const mostOfTool = 100

func shortened(text string) string {
	text = oneLine(text)
	if runes := []rune(text); len(runes) > mostOfTool {
		return string(runes[:mostOfTool]) + "…"
	}
	return text
}
