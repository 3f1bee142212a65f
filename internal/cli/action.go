package cli

import (
	"context"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) cancelCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{
		Use: "cancel [requestId]", Short: "End a job now",
		Example: `  ringback cancel
  ringback cancel --all --kind meal-suggestions --tag nightly --since 1h`,
	})
	t.fits = func(j job.Job) bool { return !j.State.Terminal() }
	d := t.deciding(c)
	a.orAll(c, job.BulkCancel, &d.yes, a.changes(d.id, (*client.Client).Cancel))
	return c
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
func (a *app) bulkCommand(c *cobra.Command, action job.BulkAction, change changing) *cobra.Command {
	c, t := a.targeted(c)
	t.fits = func(j job.Job) bool { return action.AppliesTo(j.State) }
	var yes bool
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation of --all")
	a.orAll(c, action, &yes, a.changes(t.id, change))
	return c
}

// changing is a request that changes a job.
type changing func(*client.Client, context.Context, job.ID) (client.Answer[job.Job], error)

// changes returns the RunE of a command that changes a job and prints its record. which returns the
// job's id.
func (a *app) changes(
	which func(*cobra.Command, []string) (job.ID, error), change changing,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		id, err := which(cmd, args)
		if err != nil {
			return err
		}
		j, err := change(a.client(), cmd.Context(), id)
		return show(a, cmd, j, err, printer.changed)
	}
}

// changed prints the current state of a job.
func (p printer) changed(j job.Job) {
	p.printf("Status: %s\n", p.state(j.State))
	p.line("Job", string(j.ID))
	p.line("Next", job.ShortVersion(j.NextKindVersion))
}

// decidable reports whether a job waits for an approval.
func decidable(j job.Job) bool { return j.State == job.AwaitingApproval }
