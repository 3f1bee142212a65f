package cli

import (
	"context"

	"github.com/spf13/cobra"

	"ringback/internal/client"
	"ringback/internal/job"
)

func (a *app) cancelCommand() *cobra.Command {
	return a.actionCommand("cancel", "End a job now", (*client.Client).Cancel)
}

func (a *app) retryCommand() *cobra.Command {
	return a.actionCommand("retry", "Start an expired, failed or cancelled job again", (*client.Client).Retry)
}

// action changes a job and returns its record.
type action func(*client.Client, context.Context, job.ID) (client.Answer[job.Job], error)

func (a *app) actionCommand(name, short string, do action) *cobra.Command {
	c, t := a.targeted(&cobra.Command{Use: name + " [requestId]", Short: short})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := t.id(args)
		if err != nil {
			return err
		}
		j, err := do(a.client(), cmd.Context(), id)
		if err != nil {
			return err
		}
		return show(a, cmd, j, func(p printer, j job.Job) {
			p.printf("Status: %s\n", p.state(j.State))
			p.line("Job", string(j.ID))
		})
	}
	return c
}
