package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"ringback/internal/job"
	"ringback/internal/server/config"
	"ringback/internal/turn/claude/simulated"
)

func simulateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "simulate", Short: "Stand in for the Claude CLI: takes a turn on standard input, and really calls back",
		Long: `Stand in for the Claude CLI. It reads a description of the turn on standard input, and really calls back with
curl. RINGBACK_SIMULATE sets its behaviour: success, repair, failure or silence (never calls back, and runs until it
is ended).

Ringback starts it if there is no Claude CLI, and for jobs with the option simulate.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.LoadSimulation()
			if err != nil {
				return environmentError(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			code := simulated.Run(ctx, simulated.Options{
				Behaviour: job.Simulation(c.Simulate), Pace: c.Pace,
				Stdin: cmd.InOrStdin(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
			})
			stop()
			os.Exit(code)
			return nil
		},
	}
}
