package main

//go:generate go test -vet=off . -run TestTheReferenceOfCommandsIsUpToDate -update

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ringback/internal/cli"
	"ringback/internal/server"
	"ringback/internal/server/config"
)

func main() {
	c, err := config.LoadClient()
	if err != nil {
		exit(environmentError(err))
	}
	defaults := cli.Defaults{
		ServerURL: c.ServerURL, Token: c.Token, User: c.User, NoColor: c.NoColor != "", Pager: cmp.Or(c.GitPager, c.Pager),
		Terminal: terminal(), Browser: c.Browser, ExamineFunc: offline(server.Examine), FormatFunc: offline(server.Format),
	}
	os.Exit(cli.Execute(context.Background(), rootCommand(defaults), os.Args[1:]))
}

// rootCommand returns the command line, as listed in docs/cli.md.
func rootCommand(defaults cli.Defaults) *cobra.Command {
	root := &cobra.Command{
		Use: "ringback", Short: "Run jobs on the Claude CLI and have Claude call back", Version: builtFrom().Version,
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetVersionTemplate(builtFrom().String() + "\n")
	root.SetFlagErrorFunc(cli.FlagError)
	root.AddCommand(serveCommand(), checkCommand(), tokenCommand(), keyCommand(), simulateCommand(), versionCommand(),
		backupCommand(), restoreCommand())
	root.AddCommand(cli.Commands(defaults)...)
	return root
}

func exit(err error) {
	cli.PrintError(os.Stderr, err)
	os.Exit(cli.ExitCode(err))
}

// serverConfig returns the configuration of a server started here.
func serverConfig() (config.Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return config.Config{}, err
	}
	c, err := config.LoadServer(dir)
	if err != nil {
		return c, environmentError(err)
	}
	return c, nil
}

func environmentError(err error) error {
	return cli.UsageError(fmt.Errorf("the configuration is invalid:\n%w", err))
}

// offline has a function use the store of a server that would be started here.
func offline[What, Found any](
	do func(context.Context, config.Config, What) (Found, error),
) func(context.Context, What) (Found, error) {
	return func(ctx context.Context, what What) (found Found, err error) {
		c, err := serverConfig()
		if err != nil {
			return found, err
		}
		return do(ctx, c, what)
	}
}
