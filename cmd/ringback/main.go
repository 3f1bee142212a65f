package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ringback/internal/cli"
	"ringback/internal/config"
)

// version is set when a release is built.
var version = "dev"

func main() {
	c, err := config.Load()
	if err != nil {
		fmt.Fprintf(os.Stderr, "Error: the environment is not in order:\n%v\n", err)
		os.Exit(2)
	}
	root := &cobra.Command{
		Use: "ringback", Short: "Run jobs on the Claude CLI and have Claude call back", Version: version,
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.AddCommand(serveCommand(c), checkCommand(c), simulateCommand(c))
	root.AddCommand(cli.Commands(cli.Defaults{ServerURL: c.ServerURL, Token: c.Token, User: c.User, NoColor: c.NoColor != "", Pager: cmp.Or(c.GitPager, c.Pager)})...)
	if err := root.ExecuteContext(context.Background()); err != nil {
		cli.PrintError(os.Stderr, err)
		os.Exit(cli.ExitCode(err))
	}
}
