package cli

import (
	"context"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) cancelCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{Use: "cancel [requestId]", Short: "End a job now"})
	t.fits = func(j job.Job) bool { return !j.State.Terminal() }
	c.RunE = a.changes(t.deciding(c).id, (*client.Client).Cancel)
	return c
}

func (a *app) retryCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{Use: "retry [requestId]", Short: "Start an expired, failed or cancelled job again"})
	t.fits = func(j job.Job) bool { return j.State.Terminal() && j.State.CanBecome(job.Pending) }
	c.RunE = a.changes(t.id, (*client.Client).Retry)
	return c
}

// changes makes a command of what changes a job and returns its record. which
// says which job.
func (a *app) changes(
	which func(*cobra.Command, []string) (job.ID, error), change func(*client.Client, context.Context, job.ID) (client.Answer[job.Job], error),
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		id, err := which(cmd, args)
		if err != nil {
			return err
		}
		j, err := change(a.client(), cmd.Context(), id)
		if err != nil {
			return err
		}
		return show(a, cmd, j, printer.changed)
	}
}

// changed says where a job stands now.
func (p printer) changed(j job.Job) {
	p.printf("Status: %s\n", p.state(j.State))
	p.line("Job", string(j.ID))
}

// decidable reports whether a job waits for a yes or no.
func decidable(j job.Job) bool { return j.State == job.AwaitingApproval }
