package cli

import (
	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) kindsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "kinds [name]", Short: "List the kinds of jobs, or show one with its schemas", Args: atMost(1, "kind"),
		Long: "List the kinds of jobs, or show one with its schemas. ringback kinds reload has the server load their files again, " +
			"all or none, and shows which kinds were added, removed and changed.",
		Example: `  ringback kinds meal-suggestions
  ringback kinds reload`,
		ValidArgsFunction: a.completeKinds(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				k, err := a.client().Kind(cmd.Context(), args[0])
				return show(a, cmd, k, err, printer.kind)
			}
			list, err := a.client().Kinds(cmd.Context())
			return show(a, cmd, list, err, printer.kinds)
		},
	}
	c.AddCommand(a.reloadCommand())
	return c
}

func (a *app) reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: "Have the server load the files of its kinds again", Args: atMost(0, ""),
		Long: "Have the server load the files of its kinds again: all of them, or none if one has a problem, which is shown by file and line. " +
			"Jobs keep the version of their kind: see ringback move. Each server loads its own files, so each is asked on its own (--server).",
		RunE: func(cmd *cobra.Command, _ []string) error {
			reload, err := a.client().ReloadKinds(cmd.Context())
			return show(a, cmd, reload, err, printer.kindsReload)
		},
	}
}

func (p printer) kindsReload(r client.KindsReload) {
	if len(r.Added)+len(r.Removed)+len(r.Changed) == 0 {
		p.printf("No kind has changed.\n")
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"added", r.Added}, {"removed", r.Removed}, {"changed", r.Changed}, {"warning", r.Warnings}} {
		for _, name := range list.names {
			p.printf("%-7s  %s\n", list.what, clean(name))
		}
	}
}

func (p printer) kinds(list client.Kinds) {
	tableOf(p, []string{"KIND", "VERSION", "EVENTS", "WHAT IT DOES"}, list.Kinds, func(k client.Kind) []string {
		return []string{k.Name, job.ShortVersion(k.Version), k.Events + ":*", k.Description}
	})
}

func (p printer) kind(k client.Kind) {
	p.printf(
		"%s  %s\nVersion: %s\nEvents: %s:*\n", p.paint(bold, clean(k.Name)), clean(k.Description), clean(k.Version),
		clean(k.Events),
	)
	p.printf("\n%s\n", p.paint(bold, "Input"))
	p.json(k.InputSchema)
	p.printf("\n%s\n", p.paint(bold, "Result"))
	p.json(k.ResultSchema)
}
