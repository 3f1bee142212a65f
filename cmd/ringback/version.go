package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ringback/internal/cli"
)

// commitLength is the length of an abbreviated commit.
const commitLength = 12

// build describes what this binary was built from, as the Go tool has recorded it in the binary.
type build struct {
	// Version is a tag of the repository or a pseudo-version, or "dev" if it is unknown.
	Version string `json:"version"`
	// Commit is abbreviated, and ends with "-dirty" if files were changed. It is empty if unknown:
	// Go records none in a git worktree, without git, and with -buildvcs=false.
	Commit string `json:"commit,omitempty"`
	// Date is the time of the commit, in RFC 3339.
	Date     string `json:"date,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Modules is the number of modules in the binary, except its own and the standard library.
	Modules int `json:"modules"`
}

func builtFrom() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return recorded(info)
}

// recorded reads the build info of a binary, which may be empty.
func recorded(info *debug.BuildInfo) build {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b := build{
		Version: cmp.Or(strings.TrimPrefix(info.Main.Version, "(devel)"), "dev"), Date: settings["vcs.time"],
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Modules: len(info.Deps),
	}
	b.Commit = settings["vcs.revision"][:min(len(settings["vcs.revision"]), commitLength)]
	if b.Commit != "" && settings["vcs.modified"] == "true" {
		b.Commit += "-dirty"
	}
	return b
}

// String formats the build as one line.
func (b build) String() string {
	from := "commit " + cmp.Or(b.Commit, "unknown")
	if b.Date != "" {
		from += ", committed " + b.Date
	}
	return fmt.Sprintf("ringback %s (%s, %s)", b.Version, from, b.Go)
}

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Show the version, with its commit and date", Args: cobra.NoArgs,
		Long: "Show the version, the commit and its date, as Go has recorded them. " +
			"It records none in a git worktree, without git, and with -buildvcs=false.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch output {
			case "table":
				fmt.Fprintln(cmd.OutOrStdout(), builtFrom())
				return nil
			case "json":
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(builtFrom())
			}
			return cli.FlagError(cmd, errors.New("--output takes one of: table, json"))
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "table", "`format`: table or json")
	return c
}
