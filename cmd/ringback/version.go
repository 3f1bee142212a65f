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

// What a release is built with: -ldflags "-X main.version=… -X main.commit=… -X main.date=…".
// Empty ones are taken from what the Go tool noted in the binary.
var version, commit, date string

// build says what this binary was built from.
type build struct {
	Version string `json:"version"`
	// Commit is the source's, with "-dirty" behind it where files had changed.
	Commit string `json:"commit,omitempty"`
	// Date is when it was built, or else when the commit was made; RFC 3339.
	Date string `json:"date,omitempty"`
	Go   string `json:"go"`
}

func builtFrom() build {
	b := build{Version: version, Commit: commit, Date: date, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		b.Version = cmp.Or(b.Version, "dev")
		return b
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	noted := settings["vcs.revision"]
	if noted != "" && settings["vcs.modified"] == "true" {
		noted += "-dirty"
	}
	b.Version = cmp.Or(b.Version, "dev")
	b.Commit = cmp.Or(b.Commit, noted)
	b.Date = cmp.Or(b.Date, settings["vcs.time"])
	return b
}

// String tells it in one line.
func (b build) String() string {
	var from []string
	if b.Commit != "" {
		from = append(from, "commit "+b.Commit)
	}
	if b.Date != "" {
		from = append(from, "built "+b.Date)
	}
	return fmt.Sprintf("ringback %s (%s)", b.Version, strings.Join(append(from, b.Go), ", "))
}

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Show the version, with its commit and date", Args: cobra.NoArgs,
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
