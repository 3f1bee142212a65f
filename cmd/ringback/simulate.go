package main

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"ringback/internal/claude/simulated"
	"ringback/internal/cli"
	"ringback/internal/config"
	"ringback/internal/job"
)

func simulateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "simulate", Short: "Stand in for the Claude CLI: takes its arguments and a prompt on standard input, and really calls back",
		Long: `Stand in for the Claude CLI in print mode. It accepts the CLI's own arguments and uses the relevant ones,
reads a prompt on standard input, and really calls back with curl. RINGBACK_SIMULATE sets its behaviour: success,
repair, failure or silence (never calls back, and runs until it is ended).

Ringback starts it if there is no Claude CLI, and for jobs with the option simulate.`,
		Example:            "  ringback simulate -p < prompt.txt",
		DisableFlagParsing: true, // the flags are the CLI's
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") || slices.Equal(args, []string{"help"}) {
				return cmd.Help()
			}
			if !slices.Contains(args, "-p") && !slices.Contains(args, "--print") {
				return cli.FlagError(cmd, errors.New("it plays the CLI in print mode only: pass -p, and a prompt on standard input"))
			}
			c, err := config.LoadSimulation()
			if err != nil {
				return environmentError(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			code := simulated.Run(ctx, simulated.Options{
				Args: args, Behaviour: job.Simulation(c.Simulate), Pace: c.Pace,
				Stdin: cmd.InOrStdin(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
			})
			stop()
			os.Exit(code)
			return nil
		},
	}
}
