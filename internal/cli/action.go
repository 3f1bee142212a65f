package cli

import (
	"context"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) cancelCommand() *cobra.Command {
	return a.bulkCommand(&cobra.Command{
		Use: "cancel [requestId]", Short: "End a job now",
		Example: `  ringback cancel
  ringback cancel --all --kind meal-suggestions --tag nightly --since 1h`,
	}, job.BulkCancel, (*client.Client).Cancel)
}

func (a *app) retryCommand() *cobra.Command {
	return a.bulkCommand(&cobra.Command{
		Use: "retry [requestId]", Short: "Start an expired, failed or cancelled job again",
		Example: `  ringback retry
  ringback retry --all --status failed --since 1h --yes`,
	}, job.BulkRetry, (*client.Client).Retry)
}

func (a *app) moveCommand() *cobra.Command {
	return a.bulkCommand(&cobra.Command{
		Use: "move [requestId]", Short: "Move a job to the current version of its kind",
		Long: "Move a job that has not ended to the current version of its kind, which it gets with its next turn. " +
			"What was allowed under the version before is not allowed any more: the new rules ask again.",
		Example: `  ringback move
  ringback move --all --kind release --status awaiting_approval`,
	}, job.BulkMove, (*client.Client).Move)
}

// bulkCommand returns a command that changes one job, or with --all and after confirmation many.
func (a *app) bulkCommand(
	c *cobra.Command, action job.BulkAction,
	change func(*client.Client, context.Context, job.ID) (client.Answer[job.Job], error),
) *cobra.Command {
	c, t := a.targeted(c)
	t.fits = func(j job.Job) bool { return action.AppliesTo(j.State) }
	a.orAll(c, action, &t.yes, a.changes(t.deciding(c).withYes(c), func(ctx context.Context, j meant) (client.Answer[job.Job], error) {
		return change(a.client(), ctx, j.ID)
	}))
	return c
}

// changes returns the RunE of a command that changes a job and prints its record.
func (a *app) changes(
	t *target, change func(context.Context, meant) (client.Answer[job.Job], error),
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		j, err := t.job(cmd, args)
		if err != nil {
			return err
		}
		after, err := change(cmd.Context(), j)
		return show(a, cmd, after, err, printer.changed)
	}
}

// changed prints the current state of a job.
func (p printer) changed(j job.Job) {
	p.printf("Status: %s\n", p.state(j.State))
	p.line("Job", string(j.ID))
	p.line("Next", job.ShortVersion(j.NextKindVersion))
}

func decidable(j job.Job) bool { return j.State == job.AwaitingApproval }
