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
			for _, f := range server.CheckSetup(cmd.Context(), c, kinds) {
				fmt.Fprintf(out, "%-8s %s\n", f.Weight, f.Text)
				if f.Weight == server.Trouble {
					found++
				}
			}
			if c.EnvFile != "" {
				fmt.Fprintf(out, "ok       %s was read\n", c.EnvFile)
			}
			if found > 0 {
				return cli.Problems(found)
			}
			return nil
		},
	}
}
