package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/cli"
	"ringback/internal/web/api"
	"ringback/internal/web/apikey"
)

func tokenCommand() *cobra.Command {
	var user string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "token", Short: "Create a token that signs in one user, for browsers and tests", Args: cobra.NoArgs,
		Long: `Create a token that signs in one user, signed with JWT_SECRET (of the environment,
or of .env here). Only the token is printed: TOKEN=$(ringback token --user u1).`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := serverConfig()
			if err != nil {
				return err
			}
			switch {
			case c.JWTSecret == "":
				return cli.UsageError(errors.New("JWT_SECRET is not set; it signs tokens.\n" +
					"Set it for the server and for this command, in the environment or in .env, to at least 32 characters, such as: openssl rand -hex 32"))
			case ttl < time.Second:
				return cli.FlagError(cmd, fmt.Errorf("--ttl must be at least 1s, not %s", ttl))
			case cmp.Or(user, c.User) == "":
				return cli.FlagError(cmd, errors.New("--user is required: the userId to sign in"))
			}
			token, err := api.MintToken(c.JWTSecret, cmp.Or(user, c.User), ttl)
			if err != nil {
				return cli.UsageError(err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "the user to sign in: the userId (RINGBACK_USER)")
	cmd.Flags().DurationVar(&ttl, "ttl", time.Hour, "how long the token is valid, such as 15m")
	return cmd
}

func keyCommand() *cobra.Command {
	var file string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "key <name>", Short: "Create an API key for a back end, and add its digest to a file of keys", Args: cobra.ExactArgs(1),
		Long: `Create an API key for a back end, and add its name and digest to a file of keys (API_KEYS_FILE). The key is all
that is printed, and it is kept nowhere: KEY=$(ringback key shop). A server that reads the file lets it in a moment
later, without a restart. To take a key back, remove its line from the file.`,
		Example: "  ringback key shop --file api-keys --ttl 8760h",
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				c, err := serverConfig()
				if err != nil {
					return err
				}
				file = c.APIKeysFile
			}
			switch {
			case file == "":
				return cli.FlagError(cmd, errors.New("--file is required, because API_KEYS_FILE is not set: the file to add the digest to"))
			case cmd.Flags().Changed("ttl") && ttl < time.Second:
				return cli.FlagError(cmd, fmt.Errorf("--ttl must be at least 1s, not %s", ttl))
			}
			if err := apikey.CheckName(args[0]); err != nil {
				return cli.UsageError(err)
			}
			var expires time.Time
			if ttl > 0 {
				expires = time.Now().Add(ttl)
			}
			key, err := apikey.Add(file, args[0], expires)
			if err != nil {
				return cli.UsageError(err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "The digest of %s was added to %s. The key is shown only once:\n", args[0], file)
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key)
			return err
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "the `file` of keys, created if missing (API_KEYS_FILE)")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long the key is valid, such as 2160h; default: until it is removed")
	return cmd
}
