package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) rejectCommand() *cobra.Command {
	var reason string
	c, t := a.targeted(&cobra.Command{Use: "reject [requestId]", Short: "Refuse what a job asks to be allowed"})
	t.fits = decidable
	c.RunE = a.changes(t.deciding(c).withYes(c), func(ctx context.Context, j meant) (client.Answer[job.Job], error) {
		seen := a.seen(j.Job) // including what ringback diff has shown of it
		if j.shown {
			seen = client.Seen{CheckpointID: seen.CheckpointID}
		}
		return a.client().Reject(ctx, j.ID, reason, seen)
	})
	c.Flags().StringVar(&reason, "reason", "", "`why`, for Claude and for the audit log")
	return c
}

func (a *app) approvalsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "approvals", Short: "List what you have allowed for more than once", Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.client().Approvals(cmd.Context(), a.user)
			return show(a, cmd, list, err, printer.approvals)
		},
	}
}

func (p printer) approvals(list client.Approvals) {
	if len(list.Approvals) == 0 {
		p.printf("Nothing is allowed for more than once.\n")
		return
	}
	tableOf(p, []string{"APPROVAL", "KIND", "RULE", "JOB", "SINCE"}, list.Approvals, func(s job.Approval) []string {
		return []string{job.ShortApproval(s.ID), s.Kind, s.Rule, s.RequestID.Short(), p.time(s.CreatedAt, time.DateTime)}
	})
	p.hint("Take one back with: ringback revoke " + job.ShortApproval(list.Approvals[0].ID))
}

func (a *app) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke <approval>", Short: "Take back what you have allowed for more than once",
		Args: one("one approval (ringback approvals lists them)"), ValidArgsFunction: a.offers(a.approvals),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.findApproval(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			done, err := a.client().Revoke(cmd.Context(), a.user, id)
			return show(a, cmd, done, err, func(p printer, _ client.Sent) { p.printf("Revoked.\n") })
		},
	}
}
