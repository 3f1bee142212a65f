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

// The version, commit and date that make build stamps with -ldflags "-X main.version=… -X
// main.commit=… -X main.date=…". Empty ones are taken from the build info that the Go tool
// puts into the binary.
var version, commit, date string

// commitLength is the length of an abbreviated commit, as make build stamps it.
const commitLength = 12

// build describes what this binary was built from.
type build struct {
	// Version is a tag of the repository or a pseudo-version, or "dev" if it is unknown.
	Version string `json:"version"`
	// Commit is abbreviated, and ends with "-dirty" if files were changed. It is empty if unknown:
	// Go records none in a git worktree, without git, and with -buildvcs=false.
	Commit string `json:"commit,omitempty"`
	// Date is the time of the build, or of the commit if ofCommit is set; RFC 3339.
	Date     string `json:"date,omitempty"`
	Go       string `json:"go"`
	ofCommit bool
}

func builtFrom() build {
	stamped := build{Version: version, Commit: commit, Date: date, Go: runtime.Version()}
	info, _ := debug.ReadBuildInfo() // nil if the binary has none
	return stamped.completedBy(info)
}

// completedBy fills in empty fields from the build info, if there is any.
func (b build) completedBy(info *debug.BuildInfo) build {
	if info == nil {
		info = &debug.BuildInfo{}
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	b.Version = cmp.Or(b.Version, "dev")
	if b.Commit == "" {
		b.Commit = settings["vcs.revision"]
		b.Commit = b.Commit[:min(len(b.Commit), commitLength)]
		if b.Commit != "" && settings["vcs.modified"] == "true" {
			b.Commit += "-dirty"
		}
	}
	if b.Date == "" {
		b.Date, b.ofCommit = settings["vcs.time"], true
	}
	return b
}

// String formats the build as one line.
func (b build) String() string {
	from := []string{"commit " + cmp.Or(b.Commit, "unknown")}
	if b.Date != "" {
		event := "built "
		if b.ofCommit {
			event = "committed "
		}
		from = append(from, event+b.Date)
	}
	return fmt.Sprintf("ringback %s (%s)", b.Version, strings.Join(append(from, b.Go), ", "))
}

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Show the version, with its commit and date", Args: cobra.NoArgs,
		Long: "Show the version, the commit and a date: of the build for `make build`, of the commit for a plain `go build`. " +
			"The commit is unknown if Go recorded none: in a git worktree, without git, and with -buildvcs=false.",
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
