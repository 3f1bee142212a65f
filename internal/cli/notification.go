package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) notificationsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "notifications", Short: "List the notifications that have not got through", Args: atMost(0, ""),
		Long: "List the notifications of webhooks and Slack that wait for another try, and those that were given up, oldest first.\n\n" +
			"One is given up after three days, or when its receiver answers 410 (Gone). It is kept for RETENTION, and sent again with: ringback resend <notification>",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.client().Notifications(cmd.Context(), "")
			return show(a, cmd, list, err, printer.notifications)
		},
	}
}

func (p printer) notifications(list client.Notifications) {
	if len(list.Notifications) == 0 {
		p.printf("All notifications have got through.\n")
		return
	}
	tableOf(p, []string{"NOTIFICATION", "OF", "STATUS", "WHY"}, list.Notifications, func(n job.Notification) []string {
		state := "given up"
		if n.Status == job.NotificationWaiting {
			state = "waiting"
			if !n.NextTry.IsZero() {
				state = "next try " + p.time(n.NextTry, time.DateTime)
			}
		}
		return []string{string(n.ID), p.time(n.Time, time.DateTime), state, oneLine(n.Error)}
	})
	p.hint("Send one again with: ringback resend " + clean(string(list.Notifications[0].ID)))
}

func (a *app) resendCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "resend [notification]...", Short: "Send undelivered notifications again",
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("resend takes notifications (ringback notifications lists them), or --all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			sent := map[string]bool{}
			for {
				if all {
					var err error
					if args, err = a.givenUp(cmd.Context(), sent); err != nil {
						return err
					}
				}
				for _, id := range args {
					if _, err := a.client().RetryNotification(cmd.Context(), job.NotificationID(id)); err != nil {
						return err
					}
					sent[id] = true
				}
				if !all || len(args) == 0 {
					break
				}
			}
			return show(a, cmd, answerOf(resent{len(sent)}), nil, func(p printer, r resent) { p.printf("Sent again: %d.\n", r.Resent) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all that were given up")
	return c
}

// resent counts the notifications that were sent again.
type resent struct {
	Resent int `json:"resent"`
}

// givenUp lists some notifications that were given up, except those already sent again: their
// receiver may have refused them once more.
func (a *app) givenUp(ctx context.Context, sent map[string]bool) ([]string, error) {
	list, err := a.client().Notifications(ctx, job.NotificationGivenUp)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, n := range list.Value.Notifications {
		if !sent[string(n.ID)] {
			ids = append(ids, string(n.ID))
		}
	}
	return ids, nil
}
