package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/api"
	"ringback/internal/cli"
)

func tokenCommand() *cobra.Command {
	var user string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "token", Short: "Make a token that lets one user in, for browsers and tests", Args: cobra.NoArgs,
		Long: `Make a token that lets one user in, signed with JWT_SECRET (of the environment,
or of .env here). It is all that is printed: TOKEN=$(ringback token --user u1).`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := serverConfig()
			if err != nil {
				return err
			}
			switch {
			case c.JWTSecret == "":
				return cli.UsageError(errors.New("JWT_SECRET is not set, which signs tokens.\n" +
					"Set it for the server and for this command, in the environment or in .env, to at least 32 characters, such as: openssl rand -hex 32"))
			case ttl < time.Second:
				return cli.FlagError(cmd, fmt.Errorf("--ttl wants at least 1s, not %s", ttl))
			case cmp.Or(user, c.User) == "":
				return cli.FlagError(cmd, errors.New("--user is missing: whose token is it"))
			}
			token, err := api.MintToken(c.JWTSecret, cmp.Or(user, c.User), ttl)
			if err != nil {
				return cli.UsageError(err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "the user that it signs in: the userId (RINGBACK_USER)")
	cmd.Flags().DurationVar(&ttl, "ttl", time.Hour, "for how long, such as 15m")
	return cmd
}
