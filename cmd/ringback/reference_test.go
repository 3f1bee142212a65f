package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringback/client"
	"ringback/internal/cli"
	"ringback/test/generated"
)

// docs/cli.md must match the --help output of each command.
func TestTheReferenceOfCommandsIsUpToDate(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	root := rootCommand(cli.Defaults{ServerURL: client.DefaultURL})
	common := flagsOfMost(root)
	out.WriteString("\n## Flags of all that speak to a server\n\n| flag | |\n| --- | --- |\n")
	for _, row := range slices.Sorted(maps.Keys(common)) {
		out.WriteString(row)
	}
	for _, command := range root.Commands() { // in alphabetical order
		describe(&out, command, common)
	}
	generated.Section(t, "cli.md", "commands", out.String()+"\n")
}

// flagsOfMost returns the rows of the flags that nearly every command has.
func flagsOfMost(root *cobra.Command) map[string]bool {
	count := map[string]int{}
	for _, command := range root.Commands() {
		command.NonInheritedFlags().VisitAll(func(f *pflag.Flag) { count[rowOf(f)]++ })
	}
	common := map[string]bool{}
	for row, n := range count {
		if n > len(root.Commands())/2 && !strings.Contains(row, "--help") && !strings.Contains(row, "-id ") {
			common[row] = true
		}
	}
	return common
}

// describe writes a command's description, its examples, and its flags except the common
// ones.
func describe(out *strings.Builder, command *cobra.Command, common map[string]bool) {
	if command.Hidden {
		return
	}
	about := command.Long
	if about == "" {
		about = command.Short
	}
	fmt.Fprintf(out, "\n## %s\n\n%s.\n", command.Name(), strings.TrimSuffix(plain(about), "."))
	if use := strings.TrimPrefix(command.Use, command.Name()); use != "" {
		fmt.Fprintf(out, "\nTakes `%s`.\n", strings.TrimSpace(use))
	}
	var flags strings.Builder
	command.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if row := rowOf(f); !f.Hidden && f.Name != "help" && !common[row] {
			flags.WriteString(row)
		}
	})
	if flags.Len() > 0 {
		fmt.Fprintf(out, "\n| flag | |\n| --- | --- |\n%s", flags.String())
	}
	if command.Example != "" {
		out.WriteString("\nFor example:\n\n")
		for line := range strings.Lines(command.Example) {
			if line = strings.TrimSpace(line); line != "" {
				fmt.Fprintf(out, "- `%s`\n", line)
			}
		}
	}
}

func rowOf(f *pflag.Flag) string { return fmt.Sprintf("| %s | %s |\n", nameOf(f), meaningOf(f)) }

func nameOf(f *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(f)
	name := "`" + strings.TrimSpace("--"+f.Name+" "+value) + "`"
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	return name
}

func meaningOf(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return plain(usage)
	}
	return fmt.Sprintf("%s (default `%s`)", plain(usage), f.DefValue)
}

// plain escapes a help text for Markdown.
func plain(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "\n\n", "\n\n", "\n", " ").Replace(text)
}
