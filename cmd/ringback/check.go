package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"ringback/internal/cli"
	"ringback/internal/kind"
	"ringback/internal/server"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Check the kinds and the setup, and say what is wrong", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := serverConfig()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			kinds, problems := kind.Load(server.KindSources(c)...)
			for _, name := range kinds.Names() {
				fmt.Fprintf(out, "ok       kind %s\n", name)
			}
			for _, p := range problems {
				fmt.Fprintf(out, "problem  %s\n", p.Error())
			}
			found := len(problems)
			switch claude := c.FindClaude(); {
			case claude.Problem != "":
				fmt.Fprintf(out, "problem  %s\n", claude.Problem)
				found++
			case c.CheckClaude() != nil:
				fmt.Fprintf(out, "problem  %s\n", c.CheckClaude())
				found++
			case claude.Simulated:
				fmt.Fprintf(out, "note     no Claude CLI (%s) on PATH: jobs would run on the simulated Claude\n", claude.Bin)
			default:
				fmt.Fprintf(out, "ok       claude %s\n", claude.Bin)
			}
			if found > 0 {
				return cli.Problems(found)
			}
			return nil
		},
	}
}
