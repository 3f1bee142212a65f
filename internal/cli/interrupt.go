package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"ringback/internal/job"
)

func (a *app) interruptCommand() *cobra.Command {
	var turn bool
	c, t := a.targeted(&cobra.Command{
		Use: "interrupt [requestId] [message…]", Short: "Stop what Claude does, and keep the job",
		Long: `Stop what Claude does, and keep the job.

This ends the commands that Claude runs. With --turn, or asked again in the same turn, it ends the
whole turn; the next one continues the same conversation and begins with the message.`,
		Example: "  ringback interrupt abcdefgh \"Not the whole test suite, only ./api\"",
	})
	c.Args = cobra.ArbitraryArgs
	t.fits = func(j job.Job) bool { return j.State == job.Running && j.Phase == job.AtWork }
	t.deciding(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		before, err := t.job(cmd, args[:min(len(args), 1)])
		if err != nil {
			return err
		}
		message := strings.Join(args[min(len(args), 1):], " ")
		j, err := a.client().Interrupt(cmd.Context(), before.ID, message, turn)
		return show(a, cmd, j, err, func(p printer, j job.Job) {
			p.changed(j)
			p.line("Doing", doing(j))
		})
	}
	c.Flags().BoolVar(&turn, "turn", false, "end the whole turn, not only its commands")
	return c
}
