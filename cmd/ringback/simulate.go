package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"ringback/internal/config"
	"ringback/internal/job"
	"ringback/internal/simulate"
)

func simulateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "simulate", Short: "Stand in for the Claude CLI: takes its arguments and a prompt on standard input, and really calls back",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.LoadSimulation()
			if err != nil {
				return environmentError(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			code := simulate.Run(ctx, simulate.Options{
				Args: args, Behaviour: job.Simulation(c.Simulate), Pace: c.Pace,
				Stdin: cmd.InOrStdin(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
			})
			stop()
			os.Exit(code)
			return nil
		},
	}
}
