package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/apikey"
	"ringback/internal/cli"
)

func keyCommand() *cobra.Command {
	var file string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "key <name>", Short: "Make an API key for a back end, and add its digest to a file of keys", Args: cobra.ExactArgs(1),
		Long: `Make an API key for a back end, and add its name and digest to a file of keys (API_KEYS_FILE). The key is all
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
				return cli.FlagError(cmd, errors.New("--file is missing, and API_KEYS_FILE is not set: where is the digest to stand"))
			case cmd.Flags().Changed("ttl") && ttl < time.Second:
				return cli.FlagError(cmd, fmt.Errorf("--ttl wants at least 1s, not %s", ttl))
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
			fmt.Fprintf(cmd.ErrOrStderr(), "The digest of %s was added to %s. The key is shown this once:\n", args[0], file)
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key)
			return err
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "the `file` of keys, created if missing (API_KEYS_FILE)")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long the key is valid, such as 2160h; default: until it is removed")
	return cmd
}
