package main

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"ringback/client"
	"ringback/internal/cli"
	"ringback/test/must"
)

var manualDir = flag.String("manual", "", "write the manual pages into this `directory`")

// scripts/release.sh has this test write the manual, so that the generator is not a part of the binary.
func TestEachCommandHasAManualPage(t *testing.T) {
	t.Parallel()
	root := rootCommand(cli.Defaults{ServerURL: client.DefaultURL})
	root.DisableAutoGenTag = true
	dir := cmp.Or(*manualDir, t.TempDir())
	toMarkdown(root)
	must.OK(t, doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{
		Path: dir, CommandSeparator: "-", Header: &doc.GenManHeader{Source: "Ringback", Manual: "Ringback"},
	}))
	for _, command := range root.Commands() {
		if !command.IsAvailableCommand() {
			continue
		}
		page := string(must.Get(os.ReadFile(filepath.Join(dir, "ringback-"+command.Name()+".1")))(t))
		must.Contain(t, page, "ringback-"+command.Name()+" - ")
		command.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				must.Contain(t, page, `\fB--`+f.Name+`\fP`)
			}
		})
	}
}

// toMarkdown escapes the texts of a command and of those below it, because the generator reads Markdown.
func toMarkdown(command *cobra.Command) {
	escape := strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`).Replace
	command.Use, command.Short, command.Long = escape(command.Use), escape(command.Short), escape(command.Long)
	command.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = escape(f.Usage) })
	for _, c := range command.Commands() {
		toMarkdown(c)
	}
}
